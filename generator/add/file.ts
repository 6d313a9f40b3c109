import { createReadStream } from 'node:fs'
import type { Name } from '../../core/name.ts'
import { buildCrate } from '../build/crate.ts'
import type { Registry } from '../registry.ts'
import { operatorChange } from '../store/catalog/change.ts'
import { type Acceptance, addSubmission } from './add.ts'

/** When a file is added, and the crates that come with it in the same batch. */
export interface FileAddition {
  /** As in `pubtime`: `2026-11-20T12:00:00Z`. */
  readonly at: string
  readonly companions?: ReadonlySet<Name>
}

/**
 * Takes a `.crate` file into the registry with the checks of a publish, and renders its index file.
 * Throws a `Refusal` with every objection. Pages follow with `buildPages`.
 */
export async function addCrateFile(
  registry: Registry,
  path: string,
  { at, companions }: FileAddition,
): Promise<Acceptance> {
  const max = registry.settings.limits.crate_bytes
  const bytes = await registry.crates.stage(createReadStream(path), max)
  try {
    const change = operatorChange(at)
    const submission = { bytes, pubtime: at, ...(companions && { companions }) }
    const accepted = await addSubmission(registry, submission, change)
    await buildCrate(registry, accepted.crate.id)
    return accepted
  } finally {
    await bytes.discard()
  }
}
