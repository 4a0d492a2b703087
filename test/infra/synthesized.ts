/** For tests: the stack's template without code, and a small way to ask it questions. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { App } from 'aws-cdk-lib'
import { repositoryRoot } from '../../infra/bundle.ts'
import { addMuster } from '../../infra/muster.ts'

/** Properties of a resource as far as a test asks for them. */
export type Properties = Record<string, unknown>

export interface Resource {
  readonly Type: string
  readonly Properties: Properties
  readonly DeletionPolicy?: string
  readonly UpdateReplacePolicy?: string
}

export interface SynthesizedTemplate {
  readonly Resources: Readonly<Record<string, Resource>>
  readonly Outputs: Readonly<Record<string, { readonly Value: unknown }>>
}

/** Synthesizes the stack with placeholders for its code, in the context of `cdk.json` and the one given. */
export async function synthesizeTemplate(context: Record<string, unknown> = {}): Promise<SynthesizedTemplate> {
  const outdir = mkdtempSync(path.join(tmpdir(), 'muster-template-'))
  try {
    const configuration = JSON.parse(readFileSync(path.join(repositoryRoot, 'cdk.json'), 'utf8'))
    const app = new App({
      outdir,
      analyticsReporting: false,
      context: { ...configuration.context, 'aws:cdk:bundling-stacks': [], ...context },
    })
    const stack = await addMuster(app)
    return app.synth().getStackByName(stack.stackName).template
  } finally {
    rmSync(outdir, { recursive: true, force: true })
  }
}

/** The resources of a type, by logical id. */
export function ofType(template: SynthesizedTemplate, type: string): [logicalId: string, resource: Resource][] {
  return Object.entries(template.Resources).filter(([, resource]) => resource.Type === type)
}

/** The logical id inside `{Ref}` or `{Fn::GetAtt}`; undefined for anything else. */
export function referenced(value: unknown): string | undefined {
  const { Ref: ref, 'Fn::GetAtt': attribute } = (value ?? {}) as { Ref?: string; 'Fn::GetAtt'?: string[] }
  return ref ?? attribute?.[0]
}
