/** Reads the facts for a plan: from GitHub at the base and the head, and from the thread's last conclusion. */
import { sha256 } from '../../shared/base/digest.ts'
import { GITHUB_CONCURRENCY } from '../../shared/base/limits.ts'
import { getDocument, putText } from '../../shared/documents/documents.ts'
import type { Conclusion } from '../../shared/verdict/conclusion.ts'
import type { Plan } from '../../shared/verdict/plan.ts'
import type { Claimed } from './claim-pull-request.ts'
import { CONFIGURATION_PATH, configurationOf } from './core/configuration.ts'
import { type PlanFacts, textsWanted } from './core/plan.ts'
import type { PlanDeps } from './deps.ts'

/** All facts but the texts of files. Policy comes from the base, never from the pull request itself (P1). */
export async function gather(deps: PlanDeps, { run, thread, pullRequest }: Claimed): Promise<PlanFacts> {
  const { github, documents, deploymentModel } = deps
  const now = deps.now()
  const { repository: repo, number } = run
  const base = pullRequest.base.sha
  const [{ rows: files, cut: filesCut }, mergeBase, configurationFile, template, lastConclusion] = await Promise.all([
    github.files(repo, number),
    github.mergeBase(repo, base, run.head),
    github.textAt(repo, base, CONFIGURATION_PATH),
    github.pullRequestTemplate(repo, base),
    thread.lastConclusion && getDocument<Conclusion>(documents, thread.lastConclusion.digest),
  ])
  const text = configurationFile.state === 'text' ? configurationFile.text : undefined
  const { configuration, problems } = configurationOf(text)
  return {
    run,
    thread,
    pullRequest: { title: pullRequest.title, body: pullRequest.body, author: pullRequest.author.login },
    baseSha: base,
    mergeBase,
    configuration,
    configurationProblems: [...problems, ...unreadableProblems(configurationFile.state)],
    configurationDigest: sha256(text ?? ''),
    template,
    files,
    filesCut,
    lastConclusion,
    deploymentModel,
    now,
  }
}

/** The plan with the texts that its lenses may ask for, each stored by digest. Binary files are left out. */
export async function withTexts({ github, documents }: PlanDeps, plan: Plan): Promise<Plan> {
  const wanted = textsWanted(plan)
  const texts: Record<string, string> = {}
  const worker = async () => {
    for (let next = wanted.shift(); next; next = wanted.shift()) {
      const blob = await github.blob(plan.repository, next.blob)
      const text = blob.state === 'bytes' ? textOf(blob.bytes) : undefined
      if (text !== undefined) texts[next.path] = await putText(documents, text)
    }
  }
  await Promise.all(Array.from({ length: Math.min(GITHUB_CONCURRENCY, wanted.length) }, worker))
  return { ...plan, texts }
}

/** UTF-8 text; undefined for bytes that are no text. */
function textOf(bytes: Uint8Array): string | undefined {
  const text = Buffer.from(bytes).toString('utf8')
  return text.includes('\u0000') || text.includes('\ufffd') ? undefined : text
}

function unreadableProblems(state: 'text' | 'absent' | 'not_text' | 'too_large'): PlanFacts['configurationProblems'] {
  if (state === 'text' || state === 'absent') return []
  const fault = state === 'too_large' ? 'is too large' : 'is not a text file'
  return [
    {
      code: 'configuration_unreadable',
      at: '',
      message: `${CONFIGURATION_PATH} ${fault}; the defaults apply. Replace it by a small YAML file.`,
    },
  ]
}
