import { type Issue, issue, Refusal, refuse, warning } from '../../core/error/error.ts'
import { checkPolicy } from '../../core/policy/policy.ts'
import type { Release } from '../../core/release/release.ts'
import { versionIdentity } from '../../core/version.ts'
import type { Registry } from '../registry.ts'
import { adoptFile, archiveLimits } from '../sandbox/archive.ts'
import type { KnownCrate } from '../store/catalog/import.ts'
import { releaseOfBytes } from '../store/catalog/releases.ts'
import type { Staged } from '../store/crate-store.ts'
import { type Refused, refusedPart, type SourceRelease } from './source/source.ts'

/** Largest `.crate` that is read at all, whatever a publish may have. */
const CRATE_MAX = 512 * 1024 * 1024

/** A release whose bytes wait in the store to be taken in. */
export interface Ready {
  readonly where: string
  readonly release: Release
  readonly bytes: Staged
  readonly notes: readonly Issue[]
}

/** What became of a version of the source; the issues say why it was refused, or warn. */
export interface Outcome extends Refused {
  readonly outcome: 'added' | 'present' | 'refused'
}

/** Fetches and inspects the bytes of a version unless it is here; the first good candidate. */
export async function prepareVersion(
  registry: Registry,
  candidates: readonly SourceRelease[],
  known: KnownCrate | null,
  own: ReadonlySet<string>,
): Promise<readonly (Ready | Outcome)[]> {
  const results: (Ready | Outcome)[] = []
  let chosen: SourceRelease | null = null
  for (const candidate of candidates) {
    const result = chosen
      ? twice(candidate, chosen)
      : await prepare(registry, candidate, known, own)
    if (!('outcome' in result) || result.outcome === 'present') chosen = candidate
    results.push(result)
  }
  return results
}

function twice(candidate: SourceRelease, first: SourceRelease): Outcome {
  const version = candidate.identity?.version ?? ''
  return refused(candidate, [issue('import_twice', { version, first: first.where })])
}

function refused({ where, identity }: SourceRelease, issues: readonly Issue[]): Outcome {
  return { outcome: 'refused', ...refusedPart(where, issues, identity) }
}

async function prepare(
  registry: Registry,
  candidate: SourceRelease,
  known: KnownCrate | null,
  own: ReadonlySet<string>,
): Promise<Ready | Outcome> {
  try {
    const present = candidate.identity
      ? findPresent(candidate, candidate.identity, known)
      : await findBytes(registry, candidate)
    if (present) return present
    const bytes = await candidate.take(source => registry.crates.stage(source, CRATE_MAX))
    try {
      return await inspect(registry, candidate, bytes, known, own)
    } catch (error) {
      await bytes.discard()
      throw error
    }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return refused(candidate, error.issues)
  }
}

/** The version, if it is here; refuses one that has other bytes here. Reads nothing. */
function findPresent(
  { where, entry, cksum }: SourceRelease,
  { name, version }: NonNullable<SourceRelease['identity']>,
  known: KnownCrate | null,
): Outcome | null {
  if (!known) return null
  if (known.name !== name) refuse('name_taken', { name, existing: known.name })
  const twin = known.releases.get(versionIdentity(version))
  if (!twin) return null
  if (twin.version !== version || twin.cksum !== cksum)
    refuse('version_taken', { name, version, existing: twin.version })
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
  { where, identity, entry, cksum }: SourceRelease,
  bytes: Staged,
  known: KnownCrate | null,
  own: ReadonlySet<string>,
): Promise<Ready> {
  const { size } = bytes
  if (bytes.cksum !== cksum) {
    const { name, version } = identity ?? { name: where, version: '' }
    refuse('import_checksum', { name, version, expected: cksum, found: bytes.cksum })
  }
  const limits = archiveLimits(registry.settings, size)
  const parts = { identity, entry, cksum, size, limits, own }
  const { release, notes } = await adoptFile(bytes.path, parts)
  const max = registry.settings.limits.crate_bytes
  const big = size > max ? [warning('import_oversized', { size, max })] : []
  const policy = policyNotes(registry, release, known)
  return { where, release, bytes, notes: [...notes, ...big, ...policy] }
}

/** What the policy would say of a publish; missing dependencies may come later in the import. */
function policyNotes({ settings }: Registry, release: Release, known: KnownCrate | null): Issue[] {
  const facts = { existing: known, lookAlikes: [], missingDependencies: [], alsoHere: [] }
  const { issues } = checkPolicy(release, facts, settings.policy)
  return issues.map(one =>
    one.severity === 'error' ? warning('import_policy', { reason: one.message }) : one,
  )
}
