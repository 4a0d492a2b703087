/** Loads the code of a lens when the lens is first needed: the entry of a bundle holds no lens. */
import type { Lens, LensName } from '../../../shared/findings/lens.ts'

const loaders: Readonly<Record<LensName, () => Promise<Lens>>> = {
  secrets: async () => (await import('./secrets/secrets.ts')).secrets,
  workflows: async () => (await import('./workflows/workflows.ts')).workflows,
  description: async () => (await import('./description/description.ts')).description,
  correctness: async () => (await import('./correctness/correctness.ts')).correctness,
}

export async function lensOf(name: LensName): Promise<Lens> {
  return loaders[name]()
}
