/** Reads the text of `.github/muster.yml`; a file with a problem is reported, and the defaults apply (B4, C1, C5). */
import { parseDocument } from 'yaml'
import { CONFIGURATION_BYTES_MAX } from '../../../shared/base/limits.ts'
import { redact } from '../../../shared/base/redaction.ts'
import { configurationFrom, type ReadConfiguration, unreadableConfiguration } from '../../../shared/verdict/config.ts'

/** The path on the base branch. */
export const CONFIGURATION_PATH = '.github/muster.yml'

/** The configuration in a text; the defaults without a text. Never throws: problems are data. */
export function configurationOf(text: string | undefined): ReadConfiguration {
  const { configuration, problems } = read(text)
  // Problems name keys of the file, and are posted.
  const redacted = problems.map((problem) => ({
    ...problem,
    at: redact(problem.at),
    message: redact(problem.message),
  }))
  return { configuration, problems: redacted }
}

function read(text: string | undefined): ReadConfiguration {
  if (text === undefined) return configurationFrom(undefined)
  if (Buffer.byteLength(text) > CONFIGURATION_BYTES_MAX) {
    return unreadableConfiguration(`The file has more than ${CONFIGURATION_BYTES_MAX} bytes.`)
  }
  const document = parseDocument(text, { uniqueKeys: true })
  const [error] = document.errors
  if (error)
    return unreadableConfiguration(`The file is not YAML: ${error.message.split('\n', 1)[0]?.replace(/:$/, '.') ?? ''}`)
  try {
    return configurationFrom(document.toJS({ maxAliasCount: 0 }))
  } catch {
    return unreadableConfiguration('YAML aliases are not read.')
  }
}
