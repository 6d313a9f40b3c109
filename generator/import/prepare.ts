import { type Issue, issue, Refusal, refuse, warning } from '../../core/error/error.ts'
import type { Name } from '../../core/name.ts'
import { checkPolicy } from '../../core/policy/policy.ts'
import type { Release } from '../../core/release/release.ts'
import { type Version, versionIdentity } from '../../core/version.ts'
import type { Registry } from '../registry.ts'
import { adoptFile, archiveLimits } from '../sandbox/archive.ts'
import { type KnownCrate, knownCrate } from '../store/catalog/import.ts'
import { releaseOfBytes } from '../store/catalog/releases.ts'
import type { Staged } from '../store/crate-store.ts'
import type { Refused, SourceCrate, SourceRelease } from './source/source.ts'

/** Largest `.crate` that is read at all, whatever a publish may have. */
const CRATE_MAX = 512 * 1024 * 1024

/** A release whose bytes wait in the store to be taken in. */
export interface Ready {
  readonly where: string
  readonly release: Release
  readonly bytes: Staged
  readonly notes: readonly Issue[]
}

/** What became of a version of the source. */
export interface Outcome {
  readonly outcome: 'added' | 'present' | 'refused'
  readonly where: string
  readonly name: string | null
  readonly version: string | null
  /** Why it was refused, or what is worth telling. */
  readonly issues: readonly Issue[]
}

/** One version of the source, or a part of it that is none. */
export type Task =
  | { readonly offers: readonly SourceRelease[]; readonly known: KnownCrate | null }
  | { readonly refused: Refused }

/** The tasks of a lot, with one look at what is here already. */
export async function* tasksOf(registry: Registry, lot: SourceCrate): AsyncGenerator<Task> {
  for (const refused of lot.refused) yield { refused }
  const known = lot.name === null ? null : await knownCrate(registry.database, lot.name)
  for (const offers of lot.offers) yield { offers, known }
}

/** Gets and inspects the bytes of a version, unless it is here; the first offer that is good is the one. */
export async function prepare(
  registry: Registry,
  task: Task,
  own: ReadonlySet<string>,
): Promise<readonly (Ready | Outcome)[]> {
  if ('refused' in task) {
    const { where, name = null, version = null, reasons } = task.refused
    return [{ outcome: 'refused', where, name, version, issues: reasons }]
  }
  const results: (Ready | Outcome)[] = []
  let chosen: SourceRelease | null = null
  for (const offer of task.offers) {
    const result = chosen
      ? twice(offer, chosen)
      : await prepareRelease(registry, offer, task.known, own)
    if (!('outcome' in result) || result.outcome === 'present') chosen = offer
    results.push(result)
  }
  return results
}

function twice(offer: SourceRelease, first: SourceRelease): Outcome {
  const { name = null, version = null } = offer.identity ?? {}
  const reason = issue('import_twice', { version: version ?? '', first: first.where })
  return { outcome: 'refused', where: offer.where, name, version, issues: [reason] }
}

async function prepareRelease(
  registry: Registry,
  offer: SourceRelease,
  known: KnownCrate | null,
  own: ReadonlySet<string>,
): Promise<Ready | Outcome> {
  const { where } = offer
  try {
    const present = offer.identity
      ? findPresent(offer, offer.identity, known)
      : await findBytes(registry, offer)
    if (present) return present
    const bytes = await offer.take(source => registry.crates.stage(source, CRATE_MAX))
    try {
      return { where, bytes, ...(await inspect(registry, offer, bytes, known, own)) }
    } catch (error) {
      await bytes.discard()
      throw error
    }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const { name = null, version = null } = offer.identity ?? {}
    return { outcome: 'refused', where, name, version, issues: error.issues }
  }
}

/** The version, when it is here; refuses one that is here with other bytes. Costs no look at the source. */
function findPresent(
  { where, entry, cksum }: SourceRelease,
  { name, version }: { readonly name: Name; readonly version: Version },
  known: KnownCrate | null,
): Outcome | null {
  if (!known) return null
  if (known.name !== name) refuse('name_taken', { name, existing: known.name })
  const twin = known.releases.get(versionIdentity(version))
  if (!twin) return null
  if (twin.version !== version || twin.cksum !== cksum) {
    refuse('version_taken', { name, version, existing: twin.version })
  }
  const isOther = entry !== null && entry.yanked !== twin.yanked
  const issues = isOther
    ? [warning('import_yanked_there', { name, version, there: entry.yanked })]
    : []
  return { outcome: 'present', where, name, version, issues }
}

async function findBytes(
  { database }: Registry,
  { where, cksum }: SourceRelease,
): Promise<Outcome | null> {
  const release = await releaseOfBytes(database, cksum)
  return release && { outcome: 'present', where, ...release, issues: [] }
}

async function inspect(
  registry: Registry,
  offer: SourceRelease,
  bytes: Staged,
  known: KnownCrate | null,
  own: ReadonlySet<string>,
): Promise<Pick<Ready, 'release' | 'notes'>> {
  const { name, version } = offer.identity ?? { name: offer.where, version: '' }
  if (bytes.cksum !== offer.cksum) {
    refuse('import_checksum', { name, version, expected: offer.cksum, found: bytes.cksum })
  }
  const { release, notes } = await adoptFile(bytes.path, {
    identity: offer.identity,
    entry: offer.entry,
    cksum: bytes.cksum,
    size: bytes.size,
    limits: archiveLimits(registry.settings, bytes.size),
    own,
  })
  const max = registry.settings.limits.crate_bytes
  const big = bytes.size > max ? [warning('import_oversized', { size: bytes.size, max })] : []
  return { release, notes: [...notes, ...big, ...policyNotes(registry, release, known)] }
}

/**
 * What the policy would say of a publish. Whether dependencies exist is not asked: they may come later in the import, and
 * what was resolvable there stays so.
 */
function policyNotes({ settings }: Registry, release: Release, known: KnownCrate | null): Issue[] {
  const facts = { existing: known, lookAlikes: [], missingDependencies: [], alsoHere: [] }
  const { issues } = checkPolicy(release, facts, settings.policy)
  return issues.map(one =>
    one.severity === 'error' ? warning('import_policy', { reason: one.message }) : one,
  )
}
