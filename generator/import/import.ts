// generator/import: Takes over the crates of another registry. One command calls it; it never
// writes to the other one.
import { ordered } from '../../core/async/ordered.ts'
import { type Issue, issue, Refusal, refuse, warning } from '../../core/error/error.ts'
import { CRATES_IO, isCratesIo } from '../../core/index-url.ts'
import type { Name } from '../../core/name.ts'
import { checkPolicy } from '../../core/policy/policy.ts'
import type { Release } from '../../core/release/release.ts'
import { versionIdentity } from '../../core/version.ts'
import type { Queries } from '../database/statement.ts'
import type { Staged } from '../places/crate-store.ts'
import { asCaller, asOwner, atOnce, stepsOfCaller } from '../places/disk/caller.ts'
import { isStorageRefusal, isUnknownOutcome } from '../places/disk/fault.ts'
import type { Progress } from '../projections/context.ts'
import type { Change } from '../records/change.ts'
import {
  followReleases,
  type ImportSource,
  importRelease,
  type KnownCrate,
  knownCrate,
  logImport,
  type ReleaseOutcome,
} from '../records/releases-changes.ts'
import { releaseOfBytes } from '../records/releases-stored.ts'
import { addTogether } from '../registry/changes/publish.ts'
import type { Registry } from '../registry/registry.ts'
import { adoptArchive, archiveLimits } from '../sandbox/sandbox.ts'
import {
  CRATE_MAX,
  type RefusedPart,
  refusalOfPart,
  refusedPart,
  type Source,
  type SourceRelease,
} from './source/source.ts'

const AT_ONCE = 6

/** The most releases, and characters of index lines and READMEs, in one transaction. */
const RELEASES_MAX = 100
const TEXT_MAX = 16 * 1024 * 1024

interface Ready {
  readonly where: string
  readonly release: Release
  readonly bytes: Staged
  readonly warnings: readonly Issue[]
  readonly isNewCrate: boolean
}

/** The result for a version of the source; the issues say why it was refused, or are warnings. */
export interface Outcome extends RefusedPart {
  readonly outcome: 'added' | 'present' | 'refused'
}

type ImportJob = ImportSource & {
  readonly change: Change
  /** Returns the warnings about the name of a new crate; it may be called for each version. */
  readonly warnOfName: (name: Name) => Promise<readonly Issue[]>
}

type Results = readonly (Ready | Outcome)[]

/**
 * Imports everything from `source` and yields the result for each version. An existing version
 * costs one query, so a killed import is simply repeated. A build then updates the public tree.
 */
export async function* importAll(
  registry: Registry,
  source: Source,
  job: ImportJob,
  progress?: Progress,
): AsyncGenerator<Outcome> {
  // Releases that are added together, with one sync of the database.
  const batch: Ready[] = []
  const prepared = ordered(
    tasks(registry, source, progress),
    atOnce(AT_ONCE),
    task => task(),
    discard,
  )
  try {
    for await (const results of prepared) {
      for (const result of results) {
        if ('outcome' in result) yield result
        else batch.push(result)
      }
      const text = batch.reduce((sum, { release: { readme, entry } }) => {
        return sum + (readme?.length ?? 0) + 1000 * entry.deps.length
      }, 0)
      if (batch.length >= RELEASES_MAX || text >= TEXT_MAX)
        yield* await addBatch(registry, batch.splice(0), job)
    }
    yield* await addBatch(registry, batch.splice(0), job)
  } finally {
    await discard(batch)
  }
}

/** Yields the work for each version of the source, and for each part that cannot be imported. */
async function* tasks(
  registry: Registry,
  source: Source,
  progress?: Progress,
): AsyncGenerator<() => Promise<Results>> {
  const own = new Set([...registry.urls.own, ...source.ownUrls])
  const origin = source.ownUrls.some(isCratesIo) ? CRATES_IO : null
  let done = 0
  for await (const { name, versions, refused } of stepsOfCaller(source.crates())) {
    for (const part of refused) yield async () => [{ outcome: 'refused', ...part }]
    const existing = name === null ? null : await knownCrate(registry.database, name)
    for (const candidates of versions)
      yield () => prepareVersion(registry, candidates, { existing, own, origin })
    done++
    progress?.('importing crates', done, source.total)
  }
}

async function discard(results: Results): Promise<void> {
  for (const result of results) if ('bytes' in result) await result.bytes.discard()
}

/** Adds releases as publishes are added. If killed in between, the next attempt goes on. */
async function addBatch(
  registry: Registry,
  batch: readonly Ready[],
  job: ImportJob,
): Promise<Outcome[]> {
  if (batch.length === 0) return []
  const { change } = job
  const additions = batch.map(({ release, bytes }) => ({
    release,
    bytes,
    record: (tx: Queries) => importRelease(tx, release, change, job),
  }))
  const complete = async (tx: Queries, recorded: readonly ReleaseOutcome[]) =>
    followReleases(tx, registry.followers, await logImport(tx, recorded, change, job))
  const { outcomes } = await registry.mutex.run(() => addTogether(registry, additions, complete))
  const results: Outcome[] = []
  for (const [at, result] of outcomes.entries()) {
    const { where, release, warnings, isNewCrate } = batch[at] as Ready
    const of = { where, name: release.name, version: release.version }
    if ('value' in result) {
      const ofName = isNewCrate ? await job.warnOfName(of.name) : []
      results.push({ ...of, outcome: result.value.outcome, issues: [...warnings, ...ofName] })
      continue
    }
    const { error } = result
    if (!(error instanceof Refusal) || isStorageRefusal(error) || isUnknownOutcome(error))
      throw error
    results.push({ ...of, outcome: 'refused', issues: error.issues })
  }
  return results
}

interface ImportInfo {
  readonly existing: KnownCrate | null
  /** The index URLs of the other registry and of this one. */
  readonly own: ReadonlySet<string>
  /** The index URL of the other registry, if it is a public one. */
  readonly origin: string | null
}

async function prepareVersion(
  registry: Registry,
  candidates: readonly SourceRelease[],
  info: ImportInfo,
): Promise<readonly (Ready | Outcome)[]> {
  const results: (Ready | Outcome)[] = []
  let chosen: SourceRelease | null = null
  for (const candidate of candidates) {
    const { version = '' } = candidate.identity ?? {}
    const result: Ready | Outcome = chosen
      ? refused(candidate, [issue('import_twice', { version, first: chosen.where })])
      : await prepare(registry, candidate, info)
    if (!('outcome' in result) || result.outcome === 'present') chosen = candidate
    results.push(result)
  }
  return results
}

function refused({ where, identity }: SourceRelease, issues: readonly Issue[]): Outcome {
  return { outcome: 'refused', ...refusedPart(where, issues, identity) }
}

async function prepare(
  registry: Registry,
  candidate: SourceRelease,
  info: ImportInfo,
): Promise<Ready | Outcome> {
  try {
    const { identity, where, cksum } = candidate
    const same = identity ? null : await releaseOfBytes(registry.database, cksum)
    if (same) return { outcome: 'present', where, ...same, issues: [] }
    const present = identity && findPresent(candidate, identity, info.existing)
    if (present) return present
    const stage = (source: AsyncIterable<Uint8Array>) =>
      asOwner(() => registry.crates.stage(stepsOfCaller(source), CRATE_MAX))
    const bytes = await asCaller(() => candidate.take(stage))
    try {
      return await inspect(registry, candidate, bytes, info)
    } catch (error) {
      await bytes.discard()
      throw error
    }
  } catch (error) {
    return refused(candidate, refusalOfPart(error).issues)
  }
}

/** Returns the version if it exists; refuses it if its bytes differ. Reads no bytes. */
function findPresent(
  { where, entry, cksum }: SourceRelease,
  { name, version }: NonNullable<SourceRelease['identity']>,
  existing: KnownCrate | null,
): Outcome | null {
  if (!existing) return null
  if (existing.name !== name) refuse('name_taken', { name, existing: existing.name })
  const twin = existing.releases.get(versionIdentity(version))
  if (!twin) return null
  if (twin.version !== version || twin.cksum !== cksum)
    refuse('version_taken', { name, version, existing: twin.version })
  const isOther = entry !== null && entry.yanked !== twin.yanked
  const issues = isOther
    ? [warning('import_yanked_there', { name, version, there: entry.yanked })]
    : []
  return { outcome: 'present', where, name, version, issues }
}

async function inspect(
  registry: Registry,
  { where, identity, entry, cksum }: SourceRelease,
  bytes: Staged,
  { existing, own, origin }: ImportInfo,
): Promise<Ready> {
  const { size } = bytes
  if (bytes.cksum !== cksum) {
    const { name, version } = identity ?? { name: where, version: '' }
    refuse('import_checksum', { name, version, expected: cksum, found: bytes.cksum })
  }
  const limits = archiveLimits(registry.settings, size)
  const parts = { identity, entry, cksum, size, limits, own }
  const { release: adopted, warnings } = await adoptArchive(bytes.content, parts)
  const about = { ...adopted.about, ...(origin !== null && { origin }) }
  const release = { ...adopted, about }
  const max = registry.settings.limits.crate_bytes
  const big = size > max ? [warning('import_oversized', { size, max })] : []
  // Dependencies may still follow in the import.
  const info = { existing, lookAlikes: [], missingDependencies: [], namesakes: [] }
  const policy = checkPolicy(release, info, registry.settings.policy).issues.map(problem =>
    problem.severity === 'error' ? warning('import_policy', { reason: problem.message }) : problem,
  )
  const isNewCrate = existing === null
  return { where, release, bytes, warnings: [...warnings, ...big, ...policy], isNewCrate }
}
