/**
 * A template as text for a review by a person. Hashes of assets and CDK's own notes are left out, everything is in
 * alphabetical order, references read as `${Resource.Attribute}`, and the machine's definition is data.
 */
import { stringify } from 'yaml'
import type { SynthesizedTemplate } from './synthesized.ts'

export function reviewableText({ Resources, Outputs }: SynthesizedTemplate): string {
  const resources = Object.entries(Resources).map(([logicalId, { Properties, ...rest }]) => {
    const { Metadata: _notes, ...kept } = rest as typeof rest & { Metadata?: unknown }
    return [
      logicalId,
      { ...kept, ...(Properties === undefined ? {} : { Properties: reviewableProperties(Properties) }) },
    ]
  })
  const template = readable({ Outputs, Resources: Object.fromEntries(resources) })
  return stringify(template, { sortMapEntries: true, aliasDuplicateObjects: false, lineWidth: 0 })
}

function reviewableProperties({ Code, DefinitionString, ...properties }: Record<string, unknown>): object {
  return {
    ...properties,
    ...(Code === undefined ? {} : { Code: 'the bundle of the room' }),
    ...(DefinitionString === undefined ? {} : { DefinitionString: JSON.parse(String(DefinitionString)) }),
  }
}

/** The value with references and joins as text. */
function readable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(readable)
  if (typeof value !== 'object' || value === null) return value
  const { Ref: ref, 'Fn::GetAtt': attribute, 'Fn::Join': join } = value as Record<string, unknown>
  if (typeof ref === 'string') return `\${${ref}}`
  if (Array.isArray(attribute)) return `\${${attribute.join('.')}}`
  if (Array.isArray(join)) return (readable(join[1]) as unknown[]).join(String(join[0]))
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, readable(each)]))
}
