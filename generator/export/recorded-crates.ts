import { refuse } from '../../core/error/error.ts'
import { crateKey } from '../../core/paths/crates.ts'
import { gather } from '../../core/tarball/bytes.ts'
import { findCrate } from '../records/crates.ts'
import { findRelease } from '../records/releases.ts'
import type { Registry } from '../registry/registry.ts'
import type { CratesForExport } from './export.ts'

/** Returns the crates of a registry itself; refuses one whose bytes are lost. */
export function recordedCrates({
  database,
  crates,
}: Pick<Registry, 'database' | 'crates'>): CratesForExport {
  return {
    async find({ name, version, cksum }) {
      const crate = await findCrate(database, name)
      const release = crate && (await findRelease(database, crate.id, version))
      const isMeant = crate?.name === name && release?.version === version
      if (!release || !isMeant || (cksum !== null && cksum !== release.cksum)) return null
      const opened = await crates.open(crateKey(name, release.cksum))
      if (!opened) return refuse('crate_lost', { name, version })
      return { line: release.line, bytes: Buffer.from(await gather(opened.bytes)) }
    },
  }
}
