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
  /** Why it was refused, or warnings. */
  readonly issues: readonly Issue[]
}

/** One version of the source, or a part of it that is none. */
export type Task =
  | { readonly candidates: readonly SourceRelease[]; readonly known: KnownCrate | null }
  | { readonly refused: Refused }

/** The tasks of a crate, with one look at what is here already. */
export async function* tasksOf(registry: Registry, crate: SourceCrate): AsyncGenerator<Task> {
  for (const refused of crate.refused) yield { refused }
  const known = crate.name === null ? null : await knownCrate(registry.database, crate.name)
  for (const candidates of crate.versions) yield { candidates, known }
}

/**
 * Fetches and inspects the bytes of a version, unless it is here; takes the first good candidate.
 */
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
  for (const candidate of task.candidates) {
    const result = chosen
      ? twice(candidate, chosen)
      : await prepareRelease(registry, candidate, task.known, own)
    if (!('outcome' in result) || result.outcome === 'present') chosen = candidate
    results.push(result)
  }
  return results
}

function twice(candidate: SourceRelease, first: SourceRelease): Outcome {
  const { name = null, version = null } = candidate.identity ?? {}
  const reason = issue('import_twice', { version: version ?? '', first: first.where })
  return { outcome: 'refused', where: candidate.where, name, version, issues: [reason] }
}

async function prepareRelease(
  registry: Registry,
  candidate: SourceRelease,
  known: KnownCrate | null,
  own: ReadonlySet<string>,
): Promise<Ready | Outcome> {
  const { where } = candidate
  try {
    const present = candidate.identity
      ? findPresent(candidate, candidate.identity, known)
      : await findBytes(registry, candidate)
    if (present) return present
    const bytes = await candidate.take(source => registry.crates.stage(source, CRATE_MAX))
    try {
      return { where, bytes, ...(await inspect(registry, candidate, bytes, known, own)) }
    } catch (error) {
      await bytes.discard()
      throw error
    }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const { name = null, version = null } = candidate.identity ?? {}
    return { outcome: 'refused', where, name, version, issues: error.issues }
  }
}

/**
 * The version, if it is here; refuses one that is here with other bytes. Does not read the source.
 */
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
  candidate: SourceRelease,
  bytes: Staged,
  known: KnownCrate | null,
  own: ReadonlySet<string>,
): Promise<Pick<Ready, 'release' | 'notes'>> {
  const { name, version } = candidate.identity ?? { name: candidate.where, version: '' }
  if (bytes.cksum !== candidate.cksum) {
    refuse('import_checksum', { name, version, expected: candidate.cksum, found: bytes.cksum })
  }
  const { release, notes } = await adoptFile(bytes.path, {
    identity: candidate.identity,
    entry: candidate.entry,
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
 * What the policy would say of a publish. Missing dependencies are not checked: they may come later
 * in the import.
 */
function policyNotes({ settings }: Registry, release: Release, known: KnownCrate | null): Issue[] {
  const facts = { existing: known, lookAlikes: [], missingDependencies: [], alsoHere: [] }
  const { issues } = checkPolicy(release, facts, settings.policy)
  return issues.map(one =>
    one.severity === 'error' ? warning('import_policy', { reason: one.message }) : one,
  )
}
