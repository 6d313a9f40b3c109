import { type Issue, refuse } from '../../../core/error/error.ts'
import type { Name } from '../../../core/name.ts'
import { crateKey } from '../../../core/paths/crates.ts'
import { policyQuestions } from '../../../core/policy/policy.ts'
import type { Release } from '../../../core/release/release.ts'
import { compareVersions, type Version } from '../../../core/version.ts'
import type { Staged } from '../../places/crate-store.ts'
import { asCaller } from '../../places/disk/caller.ts'
import { unreadable } from '../../places/disk/crate-files.ts'
import { showing } from '../../places/disk/fault.ts'
import { fileChecksum, fileStats, openFile } from '../../places/disk/files.ts'
import type { Progress } from '../../projections/context.ts'
import { operatorChange } from '../../records/change.ts'
import { markAgain } from '../../records/marks.ts'
import { type ReleaseOfBytes, releaseOfBytes } from '../../records/releases-stored.ts'
import type { Registry } from '../registry.ts'
import { inspect, type Submission } from './check.ts'
import { marksOfBytes, type Publication, PublishQueue, presentWarning } from './publish.ts'

/** A `.crate` file to add in a batch; a broken one has no name. */
export interface BatchItem {
  readonly path: string
  readonly name: Name | null
  readonly version: Version | null
}

interface Member {
  readonly path: string
  readonly name: Name
  readonly version: Version
  readonly needs: readonly Name[]
}

/**
 * Sorts `.crate` files so that they can be added: dependencies first, the versions of a crate by
 * SemVer, broken files last. Crates that need each other, as tests may, are adjacent.
 */
export async function orderBatch(
  registry: Registry,
  paths: readonly string[],
  progress?: Progress,
): Promise<BatchItem[]> {
  const broken: BatchItem[] = []
  const crates = new Map<Name, Member[]>()
  for (const [done, path] of paths.entries()) {
    progress?.('reading .crate files', done, paths.length)
    const member = await look(registry, path)
    if (!member) broken.push({ path, name: null, version: null })
    else crates.set(member.name, [...(crates.get(member.name) ?? []), member])
  }
  const ordered = byNeed(crates, members => members.flatMap(member => member.needs))
  const byVersion = (a: Member, b: Member) => compareVersions(a.version, b.version)
  return [...ordered.flatMap(members => members.sort(byVersion)), ...broken]
}

/** Orders crates so that each comes after those that it needs, except where they need each other. */
export function byNeed<Crate>(
  crates: ReadonlyMap<Name, Crate>,
  needsOf: (crate: Crate) => readonly Name[],
): Crate[] {
  const ordered: Crate[] = []
  const begun = new Set<Name>()
  // No recursion: a chain of dependencies could overflow the stack.
  const open = [...crates.keys()].reverse().map(name => ({ name, isDone: false }))
  for (let next = open.pop(); next; next = open.pop()) {
    const { name, isDone } = next
    const crate = crates.get(name)
    if (isDone && crate) ordered.push(crate)
    if (isDone || !crate || begun.has(name)) continue
    begun.add(name)
    const needs = needsOf(crate).map(need => ({ name: need, isDone: false }))
    open.push({ name, isDone: true }, ...needs)
  }
  return ordered
}

async function look(registry: Registry, path: string): Promise<Member | null> {
  // Adding it reports what is wrong with it.
  if (await unreadable(path)) return null
  const stats = await fileStats(path)
  if (!stats || stats.size > registry.settings.limits.crate_bytes) return null
  const cksum = await fileChecksum(path)
  if (cksum === null) return null
  const bytes = { content: path, size: stats.size, cksum }
  const issues: Issue[] = []
  const release = await inspect({ bytes, pubtime: null }, registry.settings, registry.urls, issues)
  if (!release) return null
  const { name, version } = release
  return { path, name, version, needs: policyQuestions(release).ownDependencies }
}

interface AddedRelease {
  readonly release: Pick<Release, 'name' | 'version'>
}

/** The largest `.crate` that an import may have recorded, in bytes. */
const RECORDED_MAX = 512 * 1024 * 1024

/**
 * Adds a `.crate` file with the checks of a publish, and renders its index file. `at` is the time
 * for the index (`2026-11-20T12:00:00Z`). Throws a `Refusal` with every issue. `buildPages` then
 * renders the pages. Bytes of a recorded release are put back without checks, and whatever has
 * become of it: it may be yanked, or have been imported.
 */
export async function addCrateFile(
  registry: Registry,
  path: string,
  { at, companions }: { readonly at: string } & Pick<Submission, 'companions'>,
): Promise<Pick<Publication, 'outcome' | 'warnings'> & AddedRelease> {
  const file = (await asCaller(() => openFile(path))) ?? refuse('file_missing', { path })
  const cksum = file.size > RECORDED_MAX ? null : await asCaller(() => fileChecksum(path))
  const published = cksum === null ? null : await releaseOfBytes(registry.database, cksum)
  const max = published ? RECORDED_MAX : registry.settings.limits.crate_bytes
  const bytes = await registry.crates.stage(file.bytes, max)
  try {
    const queue = new PublishQueue(registry)
    if (published?.cksum === bytes.cksum) return await putBack(registry, queue, bytes, published)
    const submission = { bytes, pubtime: at, ...(companions && { companions }) }
    const publication = await queue.publish(submission, operatorChange(at))
    await showing(async () => {
      await publication.shown
      await queue.settle()
    })
    return publication
  } finally {
    await bytes.discard()
  }
}

async function putBack(
  { crates, database, mutex }: Registry,
  queue: PublishQueue,
  bytes: Staged,
  { id, crateId, name, version, cksum }: ReleaseOfBytes,
) {
  const key = crateKey(name, cksum)
  const isLost = (await crates.checksum(key)) !== cksum
  if (isLost)
    await mutex.run(async () => {
      await bytes.keep(key)
      await markAgain(database, marksOfBytes(id))
    })
  await showing(async () => {
    await queue.show(crateId)
    await queue.settle()
  })
  return {
    release: { name, version },
    outcome: 'present',
    warnings: [presentWarning(isLost, name, version)],
  } as const
}
