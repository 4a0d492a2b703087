/** From a lens's name to its code, which is loaded when it is first needed: a bundle's entry holds none of them. */
import type { Lens, LensName } from '../../../shared/findings/lens.ts'

/** The lens of that name. */
export async function lensOf(name: LensName): Promise<Lens> {
  switch (name) {
    case 'secrets':
      return (await import('./secrets/secrets.ts')).secrets
    case 'workflows':
      return (await import('./workflows/workflows.ts')).workflows
    case 'description':
      return (await import('./description/description.ts')).description
    case 'correctness':
      return (await import('./correctness/correctness.ts')).correctness
  }
}
