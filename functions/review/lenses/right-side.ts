/** The text of a file after the change, and the way from its lines back to lines of the file. */
import type { FileChange } from '../../../shared/findings/diff.ts'

export interface RightSide {
  readonly text: string
  /** True if `text` is the whole file. */
  readonly whole: boolean
  /** Line of the file for a line of `text` (both from 1); undefined between two hunks. */
  lineOf(textLine: number): number | undefined
  /** True if the pull request added the line of the file. */
  isAdded(line: number): boolean
}

/** The text at the head, else the lines of the hunks with an empty line for each gap. Undefined without both. */
export function rightSideOf(file: FileChange, headText: string | undefined): RightSide | undefined {
  if (file.noPatch !== undefined) {
    // GitHub sends no patch for a very large file; in a new file every line is added.
    if (headText === undefined || file.status !== 'added') return undefined
    return { text: headText, whole: true, lineOf: (line) => line, isAdded: () => true }
  }
  const added = new Set<number>()
  for (const hunk of file.hunks) {
    for (const line of hunk.lines) if (line.kind === 'added' && line.newLine !== undefined) added.add(line.newLine)
  }
  const isAdded = (line: number) => added.has(line)
  if (headText !== undefined) return { text: headText, whole: true, lineOf: (line) => line, isAdded }
  return { ...textOfHunks(file), isAdded }
}

function textOfHunks(file: FileChange): Omit<RightSide, 'isAdded'> {
  const texts: string[] = []
  const numbers: (number | undefined)[] = []
  for (const hunk of file.hunks) {
    if (texts.length > 0) {
      texts.push('')
      numbers.push(undefined)
    }
    for (const line of hunk.lines) {
      if (line.newLine === undefined) continue
      texts.push(line.text)
      numbers.push(line.newLine)
    }
  }
  const whole = file.status === 'added'
  return { text: `${texts.join('\n')}\n`, whole, lineOf: (textLine) => numbers[textLine - 1] }
}
