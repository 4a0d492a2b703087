/**
 * Resolves a synthesized CloudFormation template to concrete names, as CloudFormation does at a deploy. The resolver
 * knows the intrinsic functions of this stack's template; any other function is an error, never a guess.
 */

export interface TemplateResource {
  readonly Type: string
  readonly Properties?: Readonly<Record<string, unknown>>
}

export interface Template {
  readonly Resources: Readonly<Record<string, TemplateResource>>
}

export interface Account {
  readonly partition: string
  readonly region: string
  readonly accountId: string
}

/** The values of `Ref` and `Fn::GetAtt` for one resource. */
export interface ResourceNames {
  readonly ref: string
  readonly attributes: Readonly<Record<string, string>>
}

/** The names of a resource, or undefined if nothing may refer to the resource. */
export type NameResource = (logicalId: string, resource: TemplateResource) => ResourceNames | undefined

/** Resolves a value of the resource with that logical id. */
export type Resolve = (value: unknown, logicalId: string) => unknown

/**
 * Makes the resolver of a template. For an unresolvable value the resolver throws an error that names the logical id.
 */
export function templateResolver(template: Template, account: Account, nameResource: NameResource): Resolve {
  const pseudoParameters: Readonly<Record<string, string>> = {
    'AWS::Partition': account.partition,
    'AWS::Region': account.region,
    'AWS::AccountId': account.accountId,
    'AWS::URLSuffix': 'amazonaws.com',
  }

  const namesOf = (target: string, asker: string): ResourceNames => {
    const resource = template.Resources[target]
    if (resource === undefined) throw unresolved(asker, `there is no resource ${target}`)
    const names = nameResource(target, resource)
    if (names === undefined) throw unresolved(asker, `${target} is a ${resource.Type}, which has no name here`)
    return names
  }
  const ref = (target: string, asker: string): string => pseudoParameters[target] ?? namesOf(target, asker).ref
  const attribute = (target: string, name: string, asker: string): string => {
    const value = namesOf(target, asker).attributes[name]
    if (value === undefined) throw unresolved(asker, `${target} has no attribute ${name} here`)
    return value
  }

  const resolve: Resolve = (value, asker) => {
    if (Array.isArray(value)) return value.map((each) => resolve(each, asker))
    if (typeof value !== 'object' || value === null) return value
    const [[name, argument] = [], another] = Object.entries(value)
    if (another === undefined && name !== undefined && (name === 'Ref' || name.startsWith('Fn::'))) {
      return intrinsic(name, argument, asker)
    }
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, resolve(each, asker)]))
  }

  const intrinsic = (name: string, argument: unknown, asker: string): unknown => {
    const wrong = () => unresolved(asker, `${name} of ${JSON.stringify(argument)} isn't understood`)
    if (name === 'Ref' && typeof argument === 'string') return ref(argument, asker)
    if (name === 'Fn::GetAtt') {
      const [target, attributeName] = typeof argument === 'string' ? argument.split('.') : (texts(argument) ?? [])
      if (target === undefined || attributeName === undefined) throw wrong()
      return attribute(target, attributeName, asker)
    }
    if (name === 'Fn::Sub') {
      const [text, variables] = Array.isArray(argument) ? argument : [argument, {}]
      if (typeof text !== 'string') throw wrong()
      const known = resolve(variables, asker) as Record<string, string>
      return substitute(text, (variable) => {
        const [target = '', attributeName] = variable.split('.')
        return (
          known[variable] ??
          (attributeName === undefined ? ref(target, asker) : attribute(target, attributeName, asker))
        )
      })
    }
    if (!Array.isArray(argument) || argument.length !== 2) throw wrong()
    const [first, second] = resolve(argument, asker) as [unknown, unknown]
    if (name === 'Fn::Join' && typeof first === 'string') {
      const parts = texts(second)
      if (parts !== undefined) return parts.join(first)
    }
    if (name === 'Fn::Split' && typeof first === 'string' && typeof second === 'string') return second.split(first)
    if (name === 'Fn::Select' && Array.isArray(second)) {
      const selected: unknown = second[Number(first)]
      if (selected !== undefined) return selected
    }
    throw wrong()
  }

  return resolve
}

/** Replaces `${name}`; `${!name}` stands for a literal `${name}`, as in CloudFormation. */
export function substitute(text: string, lookUp: (variable: string) => string): string {
  return text.replace(/\$\{(!?)([^}]+)\}/g, (_whole, literal: string, variable: string) =>
    literal === '' ? lookUp(variable) : `\${${variable}}`,
  )
}

function texts(value: unknown): string[] | undefined {
  return Array.isArray(value) && value.every((each) => typeof each === 'string') ? value : undefined
}

function unresolved(logicalId: string, why: string): Error {
  return new Error(`The template can't be resolved at ${logicalId}: ${why}. Extend infra/template.ts or its caller.`)
}
