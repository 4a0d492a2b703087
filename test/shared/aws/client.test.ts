/** The errors that leave an AWS client: Retry `busy` if AWS is unavailable, and never a secret. */
import { describe, expect, it } from 'vitest'
import { sayingRetry } from '../../../shared/aws/client.ts'
import { isFailure } from '../../../shared/base/errors.ts'

const TOKEN = `gh${'p_'}${'Zk4Tq9Wm2Xb7Rc1Vn8Ls5Yd3Hf6Jg0Pa4Ue2'}`

/** The rejection of a client whose call fails with the given error. */
async function rejectionOf(error: unknown): Promise<unknown> {
  type Call = (request: unknown) => Promise<unknown>
  let around: ((next: Call) => Call) | undefined
  sayingRetry({
    middlewareStack: {
      add(middleware: (next: Call) => Call) {
        around = middleware
      },
    },
  })
  return around?.(() => Promise.reject(error))({}).then(
    () => undefined,
    (rejection: unknown) => rejection,
  )
}

describe('an unexpected error of AWS', () => {
  it('AW91: keeps its name and its class, but no likely secret in its message or its stack', async () => {
    const error = Object.assign(new TypeError(`Value ${TOKEN} is not accepted`), { name: 'ValidationException' })
    const rejection = await rejectionOf(error)
    expect(rejection).toBe(error)
    expect(error.name).toBe('ValidationException')
    expect(`${error.message} ${error.stack}`).not.toContain(TOKEN)
    expect(error.message).toContain('is not accepted')
  })
})

describe('an unavailable AWS', () => {
  it.each([
    ['a throttle', { name: 'ThrottlingException' }],
    ['a timeout', { name: 'TimeoutError' }],
    ['a broken connection', { name: 'Error', code: 'ECONNRESET' }],
    ['a 503', { name: 'Whatever', $metadata: { httpStatusCode: 503 } }],
  ])('%s is Retry busy', async (_what, members) => {
    const rejection = await rejectionOf(Object.assign(new Error('x'), members))
    expect(isFailure(rejection, 'retry') && rejection.code).toBe('busy')
  })

  it('AW25: is recognised by the error’s name, from any copy of its class', async () => {
    const rejection = await rejectionOf({ name: 'ThrottlingException', message: 'slow down' })
    expect(isFailure(rejection, 'retry')).toBe(true)
  })
})
