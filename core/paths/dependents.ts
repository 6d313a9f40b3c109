import type { CanonicalName } from '../name.ts'

/** Folder of what requires each crate. */
export const DEPENDENTS_FOLDER = 'dependents'

/** Returns the path of what requires a crate, or with a number, of one of its shards. */
export function dependentsPath(crate: CanonicalName, shard?: number): string {
  return `${DEPENDENTS_FOLDER}/${crate}/${shard ?? 'all'}.json`
}

/** Returns the path of the page for people. */
export function impactPath(crate: CanonicalName): string {
  return `${DEPENDENTS_FOLDER}/${crate}/index.html`
}
