import { expect, test } from 'vitest'
import { lensOf } from '../../../../functions/review/lenses/index.ts'
import { LENS_NAMES } from '../../../../shared/findings/lens.ts'

test.each(LENS_NAMES)('the lens %s can be loaded', async (name) => {
  expect(await lensOf(name)).toBeTypeOf('function')
})
