/** Every mutant. */
import type { Mutant } from '../mutant.ts'
import { again } from './again.ts'
import { edited } from './edited.ts'
import { fleet } from './fleet.ts'
import { halts } from './halts.ts'
import { lease } from './lease.ts'
import { post } from './post.ts'
import { rooms } from './rooms.ts'
import { running } from './running.ts'
import { runs } from './runs.ts'
import { schedule } from './schedule.ts'
import { silence } from './silence.ts'
import { sweep } from './sweep.ts'
import { throttled } from './throttled.ts'

export const mutants: readonly Mutant[] = [
  ...lease,
  ...schedule,
  ...fleet,
  ...halts,
  ...running,
  ...runs,
  ...again,
  ...edited,
  ...rooms,
  ...post,
  ...sweep,
  ...throttled,
  ...silence,
]
