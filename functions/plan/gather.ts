/** Reads what a plan is made of: the pull request, its configuration at the base, its files, its thread's last conclusion. */

import { sha256 } from '../../shared/base/digest.ts'
import { GITHUB_CONCURRENCY } from '../../shared/base/limits.ts'
import { type Documents, getDocument, putText } from '../../shared/documents/documents.ts'
import type { GitHub, PullRequest } from '../../shared/github/github.ts'
import type { Run } from '../../shared/runs/run.ts'
import type { Thread } from '../../shared/runs/thread.ts'
import { conclusionSchema } from '../../shared/verdict/conclusion.ts'
import type { Plan } from '../../shared/verdict/plan.ts'
import { CONFIGURATION_PATH, configurationOf } from './core/configuration.ts'
import { type PlanFacts, textsWanted } from './core/plan.ts'

/** All facts but the texts of files. Policy is read from the base, never from the pull request itself (P1). */
export async function gather(
  from: { github: GitHub; documents: Documents },
  about: {
    run: Run
    thread: Thread
    pullRequest: PullRequest
    deploymentModel: PlanFacts['deploymentModel']
    now: number
  },
): Promise<PlanFacts> {
  const { github, documents } = from
  const { run, thread, pullRequest } = about
  const { repository: repo, number } = run
  const base = pullRequest.base.sha
  const [{ rows: files, cut: filesCut }, mergeBase, configurationFile, template, lastConclusion] = await Promise.all([
    github.files(repo, number),
    github.mergeBase(repo, base, run.head),
    github.textAt(repo, base, CONFIGURATION_PATH),
    github.pullRequestTemplate(repo, base),
    thread.lastConclusion && getDocument(documents, thread.lastConclusion.digest, conclusionSchema),
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
    configurationProblems: [...problems, ...unreadable(configurationFile.state)],
    configurationDigest: sha256(text ?? ''),
    template,
    files,
    filesCut,
    lastConclusion,
    deploymentModel: about.deploymentModel,
    now: about.now,
  }
}

/** The plan with the texts that its lenses may ask for, each fetched once and stored by digest. What isn't text is left out. */
export async function withTexts(from: { github: GitHub; documents: Documents }, plan: Plan): Promise<Plan> {
  const wanted = textsWanted(plan)
  const texts: Record<string, string> = {}
  const worker = async () => {
    for (let next = wanted.shift(); next; next = wanted.shift()) {
      const blob = await from.github.blob(plan.repository, next.blob)
      const text = blob.state === 'bytes' ? textOf(blob.bytes) : undefined
      if (text !== undefined) texts[next.path] = await putText(from.documents, text)
    }
  }
  await Promise.all(Array.from({ length: Math.min(GITHUB_CONCURRENCY, wanted.length) }, worker))
  return { ...plan, texts }
}

/** UTF-8 text; undefined for bytes that are none. */
function textOf(bytes: Uint8Array): string | undefined {
  const text = Buffer.from(bytes).toString('utf8')
  return text.includes('\u0000') || text.includes('\ufffd') ? undefined : text
}

function unreadable(state: 'text' | 'absent' | 'not_text' | 'too_large'): PlanFacts['configurationProblems'] {
  if (state === 'text' || state === 'absent') return []
  const why = state === 'too_large' ? 'is too large' : 'is not a text file'
  return [
    {
      code: 'configuration_unreadable',
      at: '',
      message: `${CONFIGURATION_PATH} ${why}; the defaults apply. Replace it by a small YAML file.`,
    },
  ]
}
