/** Consecutive invocations of a function in the same warm container. */
import type { LocalStack } from '../../infra/local/stack.ts'

export interface Invocation {
  /** The function's name. */
  readonly room: string
  /** The event as JSON. */
  readonly event: string
  /** The invocation that the same container handled just before, where certain. */
  readonly before: Invocation | undefined
}

/** Watches every later invocation of the stack's functions; the list has them in the order of their ends. */
export function watchInvocations({ functions, assembly }: LocalStack): readonly Invocation[] {
  const invocations: Invocation[] = []
  const underWay = new Map<string, number>()
  const last = new Map<string, Invocation>()
  const { invoke } = functions
  functions.invoke = async (arnOrName, event, signal) => {
    const room = assembly.functions.find(({ arn }) => arn === arnOrName)?.name ?? arnOrName
    // The pool takes the last used container first. So the container is the same, if no other invocation is under way
    // now and no container was started for this event.
    const alone = (underWay.get(room) ?? 0) === 0
    const coldStarts = functions.coldStarts(room)
    const before = last.get(room)
    underWay.set(room, (underWay.get(room) ?? 0) + 1)
    try {
      const answer = invoke(arnOrName, event, signal)
      const same = alone && functions.coldStarts(room) === coldStarts
      const invocation = { room, event: JSON.stringify(event), before: same ? before : undefined }
      return await answer.finally(() => {
        invocations.push(invocation)
        last.set(room, invocation)
      })
    } finally {
      underWay.set(room, (underWay.get(room) ?? 0) - 1)
    }
  }
  return invocations
}
