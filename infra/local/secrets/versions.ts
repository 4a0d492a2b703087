/** The versions of a secret, and the labels that mark the current version. Pure: secrets in, secrets out. */
import type { Secret, SecretVersion } from './file.ts'

export const currentStage = 'AWSCURRENT'
export const previousStage = 'AWSPREVIOUS'

/**
 * The secret with `version` added under `id`. Each label of the new version leaves the version that had the label; the
 * version that loses AWSCURRENT becomes AWSPREVIOUS. A version without labels is dropped, as AWS does in time.
 */
export function withVersion(secret: Secret, id: string, version: SecretVersion): Secret {
  const becomesCurrent = version.stages.includes(currentStage)
  const others = Object.entries(secret.versions).flatMap(([otherId, other]): [string, SecretVersion][] => {
    const wasCurrent = becomesCurrent && other.stages.includes(currentStage)
    const kept = other.stages.filter(
      (stage) => !version.stages.includes(stage) && !(becomesCurrent && stage === previousStage),
    )
    const stages = wasCurrent ? [...kept, previousStage] : kept
    return stages.length > 0 ? [[otherId, { ...other, stages }]] : []
  })
  return { ...secret, changedAt: version.createdAt, versions: { ...Object.fromEntries(others), [id]: version } }
}

/** The version with both the given id and the given label; without either, the current version. */
export function findVersion(
  secret: Secret,
  wanted: { id?: string | undefined; stage?: string | undefined },
): [id: string, version: SecretVersion] | undefined {
  const stage = wanted.stage ?? (wanted.id === undefined ? currentStage : undefined)
  return Object.entries(secret.versions).find(
    ([id, version]) =>
      (wanted.id === undefined || id === wanted.id) && (stage === undefined || version.stages.includes(stage)),
  )
}
