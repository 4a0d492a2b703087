/** What the API works with. */
import type { EndingParts } from '../../shared/coordinator/ending.ts'
import type { StartParts } from '../../shared/coordinator/start-run.ts'

export type ApiParts = EndingParts & StartParts
