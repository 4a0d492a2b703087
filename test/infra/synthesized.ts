/** The stack's template without code, and helpers for questions about it. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { App } from 'aws-cdk-lib'
import { repositoryRoot } from '../../infra/bundle.ts'
import { addMuster } from '../../infra/muster.ts'
import type { MusterStack } from '../../infra/stack.ts'

/** The properties of a resource that a test reads. */
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

/**
 * Gives the stack with placeholders for its code, not yet synthesized, in the context of `cdk.json` and the given
 * context.
 */
export async function withStack<T>(
  context: Record<string, unknown>,
  use: (app: App, stack: MusterStack) => T,
): Promise<T> {
  const outdir = mkdtempSync(path.join(tmpdir(), 'muster-template-'))
  try {
    const configuration = JSON.parse(readFileSync(path.join(repositoryRoot, 'cdk.json'), 'utf8'))
    const app = new App({
      outdir,
      analyticsReporting: false,
      context: { ...configuration.context, 'aws:cdk:bundling-stacks': [], ...context },
    })
    return use(app, await addMuster(app))
  } finally {
    rmSync(outdir, { recursive: true, force: true })
  }
}

/** Synthesizes the stack with placeholders for its code, in the context of `cdk.json` and the given context. */
export function synthesizeTemplate(context: Record<string, unknown> = {}): Promise<SynthesizedTemplate> {
  return withStack(context, (app, stack) => app.synth().getStackByName(stack.stackName).template)
}

/** The resources of a type, by logical id. */
export function ofType(template: SynthesizedTemplate, type: string): [logicalId: string, resource: Resource][] {
  return Object.entries(template.Resources).filter(([, resource]) => resource.Type === type)
}

/** The logical id inside `{Ref}` or `{Fn::GetAtt}`; undefined for any other value. */
export function referenced(value: unknown): string | undefined {
  const { Ref: ref, 'Fn::GetAtt': attribute } = (value ?? {}) as { Ref?: string; 'Fn::GetAtt'?: string[] }
  return ref ?? attribute?.[0]
}

/** Every object inside a value, the value included, with the path to each. */
export function objectsIn(value: unknown, at = ''): { readonly at: string; readonly object: Properties }[] {
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.entries(value).flatMap(([key, each]) => objectsIn(each, `${at}/${key}`))
  return Array.isArray(value) ? inner : [{ at, object: value as Properties }, ...inner]
}
