/** The dependencies of the API. */
import type { EndingDeps } from '../../shared/coordinator/ending.ts'
import type { StartDeps } from '../../shared/coordinator/start-run.ts'

export type ApiDeps = EndingDeps & StartDeps
