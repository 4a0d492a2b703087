/** Documents over the real bucket: what is stored is read back whole, or refused with a stable code. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Documents, getDocument, putDocument, putText } from '../../../shared/documents/documents.ts'
import { conclusionSchema } from '../../../shared/verdict/conclusion.ts'
import { planSchema } from '../../../shared/verdict/plan.ts'
import { CHANGES_REQUESTED } from '../../functions/conclude/conclusions.ts'
import { startWorld, type World } from '../ledger/world.ts'
import { planOf } from '../samples.ts'

let world: World
let documents: Documents
beforeAll(async () => {
  world = await startWorld()
  documents = world.ending.documents
})
afterAll(() => world.close())

const lines = [{ kind: 'added', text: 'a', newLine: 1 }] as const
const file = {
  path: 'src/a.ts',
  status: 'added',
  additions: 1,
  deletions: 0,
  blob: 'b',
  hunks: [{ oldStart: 0, oldLines: 0, newStart: 1, newLines: 1, lines }],
} as const

const planStored = async (value: object) => getDocument(documents, await putDocument(documents, value), planSchema)

describe('a document', () => {
  it('is read as it was stored, to the lines of its hunks', async () => {
    const plan = planOf({ files: [file], template: 'What?', model: { model: 'm', baseUrl: 'http://m' } })
    expect(await planStored(plan)).toEqual(plan)
  })

  it('of a later version keeps the members that this version does not know', async () => {
    const later = { ...planOf({ files: [file] }), weather: 'fair' }
    expect(await planStored({ ...later, files: [{ ...file, owner: 'ana' }] })).toEqual({
      ...JSON.parse(JSON.stringify(later)),
      files: [{ ...file, owner: 'ana' }],
    })
  })

  it('of an earlier version is read without the reason that files were left out by name', async () => {
    const earlier = { ...CHANGES_REQUESTED, leftOut: [{ path: 'a.lock', reason: 'Generated.' }] }
    const digest = await putDocument(documents, earlier)
    expect((await getDocument(documents, digest, conclusionSchema)).leftOut).toEqual(earlier.leftOut)
  })

  it('of an earlier version may name fewer lenses in its configuration, and of a later one other lenses', async () => {
    const configuration = { ...planOf().configuration, lenses: { secrets: 'active' } } as const
    const reviews = [{ lens: 'licences', part: 0, paths: [] }]
    expect(await planStored({ ...planOf({ configuration }), reviews })).toMatchObject({ configuration, reviews })
  })

  it('that lacks a member is document_invalid, which names the member and the document', async () => {
    const { reviews: _reviews, ...plan } = planOf()
    await expect(planStored(plan)).rejects.toMatchObject({
      name: 'dead',
      code: 'document_invalid',
      message: expect.stringMatching(/^document_invalid: The document [0-9a-f]{12} has another reviews than /),
    })
  })

  it('whose member has another form is document_invalid, and its content is not told', async () => {
    const secret = 'hunter2'
    const misfit = planStored({ ...planOf(), texts: { [secret]: 7 }, head: null })
    await expect(misfit).rejects.toMatchObject({ code: 'document_invalid' })
    await expect(misfit).rejects.not.toThrow(secret)
  })

  it('that is no JSON is document_invalid, and its text is not told', async () => {
    const digest = await putText(documents, 'hunter2')
    const read = getDocument(documents, digest, planSchema)
    await expect(read).rejects.toMatchObject({ code: 'document_invalid' })
    await expect(read).rejects.not.toHaveProperty('cause')
    await expect(read).rejects.not.toThrow('hunter2')
  })

  it('that is not in the bucket is document_missing', async () => {
    await expect(getDocument(documents, 'f'.repeat(64), planSchema)).rejects.toMatchObject({ code: 'document_missing' })
  })
})
