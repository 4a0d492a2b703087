/** GitHub's description, ready for checks: its schemas compiled by Ajv, found by the stand-in's routes. */
import { createRequire } from 'node:module'
import { Ajv, type ValidateFunction } from 'ajv'
import type { FormatsPlugin } from 'ajv-formats'

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

interface Referring {
  $ref?: string
}
export interface Example {
  value?: unknown
}
interface Content {
  [mediaType: string]: { schema?: object; examples?: Record<string, Example & Referring> }
}
interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  schema: { type?: string }
}
interface Described {
  parameters?: (Parameter & Referring)[]
  requestBody?: { required?: boolean; content: Content }
  responses: Record<string, { content?: Content } & Referring>
}
interface Description {
  paths: Record<string, Record<string, Described>>
  components: Record<string, Record<string, unknown>>
}

export interface Operation {
  /** In GitHub's notation: `GET /repos/{owner}/{repo}`. */
  name: string
  complaintsOfQuery(query: URLSearchParams): string[]
  /** Undefined: no body came. */
  complaintsOfBody(body: unknown): string[]
  complaintsOfAnswer(status: number, body: unknown): string[]
  /** GitHub's own examples of answers, by status. */
  examples(): { status: number; name: string; value: unknown }[]
}

/** GitHub's deviations from its own description: an outdated comment has no line any more, and null in its field. */
const ALSO_NULL: readonly (readonly [schema: string, property: string])[] = [
  ['review-comment', 'line'],
  ['review-comment', 'position'],
]

const require = createRequire(import.meta.url)
const addFormats = require('ajv-formats') as FormatsPlugin
const description = typed(amended(require('./github-openapi.json') as Json)) as unknown as Description

const SCHEMA = 'github'
/** GitHub's description is in OpenAPI's dialect: keywords unknown to JSON Schema are no errors. */
const ajv = new Ajv({ strict: false, allErrors: true })
addFormats(ajv)
// Formats of GitHub's own, unknown to every validator.
for (const format of ['repo.nwo', 'ssh-key', 'timestamp']) ajv.addFormat(format, true)
ajv.addSchema(description, SCHEMA)

/** The answer of an error that the operation doesn't describe, e.g. 401. */
const ANY_ERROR = { type: 'object', required: ['message'], properties: { message: { type: 'string' } } }

const byShape = new Map<string, Operation>()
for (const [path, methods] of Object.entries(description.paths)) {
  for (const [method, described] of Object.entries(methods)) {
    const name = `${method.toUpperCase()} ${path}`
    byShape.set(shapeOf(name), operationOf(name, described))
  }
}

/** `contents/{path}` with an empty path, whose last slash clients leave out. */
const ROOT_FOLDER = '/repos/:owner/:repo/contents'

export const describedOperations = {
  all: (): Operation[] => [...byShape.values()],
  /** By the pattern of a route of the stand-in, e.g. `/repos/:owner/:repo/contents/*path`. */
  find(method: string, pattern: string): Operation | undefined {
    const path = pattern === ROOT_FOLDER ? `${ROOT_FOLDER}/{path}` : pattern
    return byShape.get(shapeOf(`${method} ${path}`))
  },
}

function operationOf(name: string, described: Described): Operation {
  const parameters = (described.parameters ?? []).map((one) => resolved(one))
  const query = parameters.filter((parameter) => parameter.in === 'query')
  const checkQuery = compiled({
    type: 'object',
    required: query.filter(({ required }) => required).map((parameter) => parameter.name),
    properties: Object.fromEntries(query.map((parameter) => [parameter.name, absolute(parameter.schema)])),
    additionalProperties: false,
  })
  const { requestBody } = described
  const bodySchema = requestBody?.content['application/json']?.schema
  const checkBody = bodySchema === undefined ? undefined : compiled(absolute(bodySchema))
  const answers = new Map<string, (() => ValidateFunction) | null>()
  for (const [status, response] of Object.entries(described.responses)) {
    const schema = resolved(response).content?.['application/json']?.schema
    answers.set(status, schema === undefined ? null : compiled(absolute(schema)))
  }
  const anyError = compiled(ANY_ERROR)

  return {
    name,
    complaintsOfQuery: (asked) => complaints(checkQuery(), valuesOf(asked, query)),
    complaintsOfBody(body) {
      if (body === undefined) return requestBody?.required ? ['a body is required'] : []
      // Octokit sends an empty object with some calls without a body; GitHub ignores the object.
      if (checkBody === undefined) return []
      return complaints(checkBody(), body)
    },
    complaintsOfAnswer(status, body) {
      const check = answers.get(String(status))
      if (check === undefined) return status < 400 ? [`no answer ${status} is described`] : complaints(anyError(), body)
      if (check === null) return body === undefined ? [] : ['an answer without a body is described']
      return complaints(check(), body)
    },
    examples: () =>
      Object.entries(described.responses).flatMap(([status, response]) =>
        Object.entries(resolved(response).content?.['application/json']?.examples ?? {}).map(([label, example]) => ({
          status: Number(status),
          name: label,
          value: resolved(example).value,
        })),
      ),
  }
}

/** A query's texts in the described types; a text of another type stays a text, and is reported. */
function valuesOf(asked: URLSearchParams, described: readonly Parameter[]): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const [name, text] of asked) {
    const type = described.find((parameter) => parameter.name === name)?.schema.type
    const isNumber = type === 'integer' && /^-?\d+$/.test(text)
    values[name] = isNumber ? Number(text) : type === 'boolean' ? text === 'true' || text : text
  }
  return values
}

function complaints(check: ValidateFunction, value: unknown): string[] {
  if (check(value)) return []
  return (check.errors ?? []).map(({ instancePath, message, params }) => {
    const which = 'additionalProperty' in params ? ` (${params.additionalProperty})` : ''
    return `${instancePath} ${message}${which}`.trim()
  })
}

/** Compiled at the first use: a test uses a few schemas. */
function compiled(schema: object): () => ValidateFunction {
  let check: ValidateFunction | undefined
  return () => {
    check ??= ajv.compile(schema)
    return check
  }
}

/** The same schema outside of its document: references begin with the document's name. */
function absolute(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', `"$ref":"${SCHEMA}#/`))
}

function resolved<T extends Referring>(value: T): T {
  if (value.$ref === undefined) return value
  const [, , kind = '', name = ''] = value.$ref.split('/')
  const component = description.components[kind]?.[name]
  if (component === undefined) throw new Error(`dangling_reference: ${value.$ref}. Run prune.ts again.`)
  return component as T
}

/**
 * The description as JSON Schema. `nullable` may stand without a type in OpenAPI, and beside an `enum` without null.
 */
function typed(value: Json): Json {
  if (Array.isArray(value)) return value.map(typed)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.fromEntries(Object.entries(value).map(([key, member]) => [key, typed(member)]))
  const { nullable, ...schema } = members
  return nullable === true ? { anyOf: [schema, { type: 'null' }] } : schema
}

function amended(json: Json): Json {
  const { schemas = {} } = (json as unknown as Description).components
  for (const [schema, property] of ALSO_NULL) {
    const { properties } = schemas[schema] as { properties: Record<string, { nullable?: boolean } | undefined> }
    if (properties[property] === undefined) throw new Error(`unknown_property: ${schema} has no ${property} any more.`)
    properties[property].nullable = true
  }
  return json
}

/** The same for `{pull_number}`, `:number` and `*path`. */
function shapeOf(route: string): string {
  return route.replaceAll(/\{[^}]*\}|[:*]\w+/g, '{}')
}
