import { canonicalName, isName, type Name } from '../../core/name.ts'
import { findCrate } from '../records/crates.ts'
import type { Registry } from '../registry/registry.ts'

/** Returns whether a name is that of a crate here, or reserved for one: no upstream learns it. */
export async function isOwnName({ database, settings }: Registry, name: Name): Promise<boolean> {
  const prefixes = settings.policy.reserved_prefixes.filter(isName).map(canonicalName)
  const isReserved = prefixes.some(prefix => canonicalName(name).startsWith(prefix))
  return isReserved || (await findCrate(database, name)) !== null
}
