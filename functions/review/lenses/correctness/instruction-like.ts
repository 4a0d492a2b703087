/** Finds text in a pull request that addresses a reviewing model instead of people (P6). */
import { folded } from '../../../../shared/base/text.ts'
import type { FileChange } from '../../../../shared/findings/diff.ts'
import type { ClaimedFinding, ClaimedLocation } from '../../../../shared/findings/finding.ts'
import type { PullRequestFacts } from '../../../../shared/findings/lens.ts'

/** Claims about such text in the title, in the description (also where it is hidden), and in added lines. */
export function instructionLike(
  pullRequest: PullRequestFacts,
  files: readonly FileChange[],
): readonly ClaimedFinding[] {
  const claims: ClaimedFinding[] = []
  if (speaksToModel(`${pullRequest.title}\n${pullRequest.body}`)) {
    claims.push(claimOf('the title or the description', { kind: 'pull_request' }))
  }
  for (const file of files) {
    for (const line of file.hunks.flatMap((hunk) => hunk.lines)) {
      if (line.kind !== 'added' || line.newLine === undefined || !speaksToModel(line.text)) continue
      const location = {
        kind: 'lines',
        path: file.path,
        side: 'RIGHT',
        startLine: line.newLine,
        line: line.newLine,
      } as const
      claims.push(claimOf('an added line', location))
    }
  }
  return claims
}

/** Bounded phrases without sense for a human reviewer. A model would find more, but a model is the target. */
const PHRASES: readonly RegExp[] = [
  /\b(?:ignore|disregard|forget|override) (?:all |any )?(?:of )?(?:the |your |these )?(?:previous|prior|above|earlier|preceding|system) (?:instructions?|prompts?|rules?|directions?|messages?)/i,
  /\byou are (?:now )?(?:an? )?(?:ai|llm|language model|code review(?:er)?(?: bot| assistant)?)\b/i,
  /\b(?:ai|llm|model|bot|automated|claude|gpt|copilot) (?:code )?reviewers?:? (?:must|should|please|do not|don't|can|may|will)\b/i,
  /\b(?:do not|don't|never) (?:report|flag|mention|raise|comment on) (?:any |this |these |the )?(?:issues?|findings?|problems?|vulnerabilit(?:y|ies)|faults?|bugs?)\b/i,
  /\b(?:respond|reply|answer|return|output) (?:only )?(?:with )?(?:an )?(?:empty (?:list|array)|no (?:findings|issues))\b/i,
  /<\|(?:im_start|im_end|system|assistant|endoftext)\|>|\[\/?INST\]|<<SYS>>/,
]

/** Characters without width may split words, so they are removed first. */
function speaksToModel(text: string): boolean {
  const plain = folded(text.replace(/\p{Default_Ignorable_Code_Point}/gu, ''))
  return PHRASES.some((phrase) => phrase.test(plain))
}

function claimOf(where: string, location: ClaimedLocation): ClaimedFinding {
  return {
    rule: 'instruction-like-content',
    severity: 'low',
    title: `Instruction-like content found in ${where}`,
    why: 'It speaks to a reviewing model, not to people. Models here are told to treat it as material; other tools that read this repository may obey it.',
    clears: 'Remove the text, or say in the description why it belongs there.',
    location,
  }
}
