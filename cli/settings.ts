/** The paths on this machine, and the environment's settings of the model. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { CommandFailure } from './errors.ts'

/** Muster's own folder. */
export const musterDirectory = path.resolve(import.meta.dirname, '..')

/** The default state folder: in Muster's folder, never in the repository under review. */
export const defaultStateDirectory = path.join(musterDirectory, '.muster')

/** Synthesized assemblies depend on Muster's sources alone, so all states share the cache. */
export const cacheDirectory = path.join(defaultStateDirectory, 'cache')

/** The file by which other commands find a running stack. */
export const upFile = (stateDirectory: string) => path.join(stateDirectory, 'up.json')

/** The output of the functions since the last start. */
export const logFile = (stateDirectory: string) => path.join(stateDirectory, 'functions.log')

/** Muster's version, from package.json. */
export function musterVersion(): string {
  const text = readFileSync(path.join(musterDirectory, 'package.json'), 'utf8')
  return (JSON.parse(text) as { readonly version: string }).version
}

export interface ModelSettings {
  readonly baseUrl: string
  readonly model: string
  readonly apiKey?: string
}

export const MODEL_VARIABLES = { model: 'MUSTER_MODEL', url: 'MUSTER_MODEL_URL', key: 'MUSTER_MODEL_KEY' } as const

/**
 * The model that MUSTER_MODEL, MUSTER_MODEL_URL and MUSTER_MODEL_KEY name; undefined without any. Never an argument,
 * because every user of the machine can see arguments. Throws `model_settings_invalid`.
 */
export function modelSettings(environment: NodeJS.ProcessEnv): ModelSettings | undefined {
  const { model: modelName, url: urlName, key: keyName } = MODEL_VARIABLES
  const [model, url, apiKey] = [modelName, urlName, keyName].map((name) => environment[name]?.trim() || undefined)
  if (model === undefined && url === undefined) {
    if (apiKey === undefined) return undefined
    throw invalid(`${keyName} is set, but no model is named.`)
  }
  if (model === undefined || url === undefined) {
    throw invalid(`${model === undefined ? urlName : modelName} is set alone.`)
  }
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw invalid(`${urlName} is no http or https address.`)
  }
  return { model, baseUrl: url.replace(/\/+$/, ''), ...(apiKey === undefined ? {} : { apiKey }) }
}

function invalid(sentence: string): CommandFailure {
  const { model, url, key } = MODEL_VARIABLES
  const remedy = `Set ${model} to a model's name and ${url} to its OpenAI-compatible endpoint (and ${key}, if the endpoint needs a key), or unset all.`
  return new CommandFailure('model_settings_invalid', sentence, remedy, 'usage')
}
