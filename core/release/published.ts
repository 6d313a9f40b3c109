import { collect, type Issue, Refusal, refuse, refuseErrors, warning } from '../error/error.ts'
import type { Manifest } from '../manifest/manifest.ts'
import { parseManifest } from '../manifest/parse.ts'
import type { ArchiveLimits, Identity, Open } from '../tarball/read.ts'
import { recoverArchive, type Unpacked, unpackedLimit } from '../tarball/recover.ts'

// What no Cargo can use is refused at every entrance. Rules for new publishes are in `inspect.ts`:
// they are stricter, and do not count for what the world has published.

const MiB = 1024 * 1024
const USUAL = { unpackedBytes: MiB, entries: 100_000, manifestBytes: MiB, readmeBytes: MiB }

export interface Published extends Unpacked {
  readonly identity: Identity
  /** Null if only this program cannot read it, as `notes` say. */
  readonly parsed: Manifest | null
}

/**
 * Reads a published `.crate` of `size` bytes; refuses one that no Cargo can use. Without
 * `expected`, its manifest says what it is, and must be one that this program can read.
 */
export async function readPublished(
  open: Open,
  expected: Identity | null,
  size: number,
  limits: ArchiveLimits = USUAL,
  warnings: Issue[] = [],
): Promise<Published> {
  const within = { ...limits, unpackedBytes: unpackedLimit(size) }
  const unpacked = await recoverArchive(open, expected && topOf(expected), within)
  // Nobody vouches for bytes without an index, such as those of a trick.
  const trick = expected === null ? unpacked.odd.find(({ code }) => code === 'archive_path') : null
  const fault = unpacked.fault ?? trick
  if (fault) throw new Refusal([fault])
  const parsed = readManifest(unpacked.manifest, expected, warnings)
  const identity = expected ?? parsed ?? refuse('archive_manifest_missing')
  const { top } = unpacked
  if (top !== topOf(identity)) refuse('archive_root', { path: top, root: topOf(identity) })
  return { ...unpacked, identity, parsed }
}

/** Returns the folder in which everything of a `.crate` is. */
export function topOf({ name, version }: Identity): string {
  return `${name}-${version}`
}

/** Faults that every Cargo finds, too: its parser of TOML, and the wrong name of a package. */
const FATAL = /^(?:manifest_(?:toml|package_missing|key_missing|inherited)$|name_|version_)/

/** Reads the manifest of a published `.crate`; null, with a note, if only Cargo can. */
export function readManifest(
  text: string | null,
  expected: Identity | null,
  warnings: Issue[],
): Manifest | null {
  if (text === null) return null
  const problems: Issue[] = []
  const manifest = collect(problems, () => parseManifest(text, 'published'))
  if (!manifest) {
    refuseErrors(problems.filter(({ code }) => expected === null || FATAL.test(code)))
    warnings.push(warning('import_manifest', { reason: problems[0]?.message ?? '' }))
    return null
  }
  if (!expected || topOf(manifest) === topOf(expected)) return manifest
  const [there, here] = [manifest, expected].map(({ name, version }) => `${name} ${version}`)
  return refuse('import_identity', { expected: here ?? '', found: there ?? '' })
}
