import { dirname } from 'node:path'
import { forEachConcurrently } from '../../core/async/concurrently.ts'
import { type Issue, inFile, issue, Refusal, refuse, refuseErrors } from '../../core/error/error.ts'
import { type CanonicalName, canonicalName, type Name } from '../../core/name.ts'
import { indexPath, type Output, PUSH_FOLDER } from '../../core/paths/tree.ts'
import { policyQuestions } from '../../core/policy/policy.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { sha256 } from '../../core/sha256.ts'
import { type OwnDl, ownDl, requireOwnDl } from '../../core/urls/dl-template.ts'
import type { RegistryUrls } from '../../core/urls/urls.ts'
import type { Version } from '../../core/version.ts'
import { asCaller, atOnce, workAsOwner } from '../places/disk/caller.ts'
import { readBytes, sweepFolder } from '../places/disk/files.ts'
import { FolderPlace } from '../places/folder-place.ts'
import { FileMutex } from '../places/locks/lock.ts'
import type { Place } from '../places/place.ts'
import { retried, Transient } from '../places/s3/failure.ts'
import { makePrivate } from '../private-files.ts'
import { renderConfig } from '../projections/index/config.ts'
import { byNeed } from '../registry/changes/add.ts'
import { findSpelling, placeIn, READ_MAX, readIndex, renderWith } from './push-index.ts'
import { packagePath, type StaticCrate, type StaticRelease, StaticReleases } from './releases.ts'
import { requireTree } from './tree.ts'

/** A push of `.crate` files to a public tree. */
export interface Push {
  readonly files: readonly string[]
  readonly to: Place
  readonly settings: Settings
  readonly urls: RegistryUrls
}

/** A file that is in the index now, or was before. */
export interface PushedFile {
  readonly path: string
  readonly name: Name
  readonly version: Version
  readonly outcome: 'pushed' | 'present'
}

/** The result of a push. */
export interface PushResult {
  readonly files: readonly PushedFile[]
  readonly warnings: readonly Issue[]
  /** Why the rest was not pushed, such as another push that came first; usually nothing. */
  readonly refused: readonly Issue[]
}

/** A folder with a public tree that many push to at once. */
export interface PushFolder {
  readonly place: FolderPlace
  close(): Promise<void>
}

/**
 * Opens a folder for a push. Changes are made under a lock that the operating system frees when its
 * holder dies. Refuses a folder that contains something else than a public tree.
 */
export async function openPushFolder(folder: string): Promise<PushFolder> {
  workAsOwner(folder)
  const reader = new FolderPlace(folder, { sync: 'never' })
  await requireTree(folder)
  await makePrivate(reader.local(PUSH_FOLDER))
  const mutex = new FileMutex(reader.local(`${PUSH_FOLDER}/lock`))
  return { place: new FolderPlace(folder, { sync: 'each', mutex }), close: () => mutex.close() }
}

const UPLOADS = 32

/** How long a push retries an index file that others keep changing, in milliseconds. */
const CONTENTION_MS = 120_000

/**
 * Adds `.crate` files to the tree of a static build, with the same checks: the `.crate` files
 * first, then the lines of the index, each crate after those that it needs. Many may push at once.
 * Throws a `Refusal` with every issue, and then no reader sees a change. Killed anywhere, the same
 * push completes it. Does not render pages.
 */
export async function push({ files, to, settings, urls }: Push): Promise<PushResult> {
  requireOwnDl(urls)
  const dl = ownDl(urls)
  const config = renderConfig(urls, settings.auth.required)
  const hasConfig = await isSameConfig(to, config)
  const { crates, warnings } = await checkAll(files, to, settings, urls)
  if (!hasConfig && !(await to.put(config.path, config.bytes, { onlyIf: 'absent' })))
    await isSameConfig(to, config)
  for (const crate of crates) await reserve(to, crate[0].name)
  const most = atOnce(UPLOADS)
  await forEachConcurrently(crates.flat(), release => upload(to, release, dl), most)
  const done: PushedFile[] = []
  const refused: Issue[] = []
  const byName = new Map(crates.map(crate => [crate[0].name, crate]))
  const needsOf = (crate: StaticCrate) =>
    crate.flatMap(release => policyQuestions(release).ownDependencies)
  for (const crate of byNeed(byName, needsOf)) {
    try {
      done.push(...(await list(to, crate, dl)))
      if (needsReservation(crate[0].name)) await to.remove(reservation(crate[0].name))
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      refused.push(...error.issues.map(problem => inFile(crate[0].path, problem)))
      // Later crates may need it.
      break
    }
  }
  return { files: done, warnings, refused }
}

/**
 * Returns whether the target has a `config.json`. Refuses another one than ours: that tree has
 * another address, so dependencies on it are others, or a daemon, which does not know of pushes.
 */
async function isSameConfig(to: Place, { path, bytes }: Output): Promise<boolean> {
  const there = await to.read(path)
  if (there === null || there.bytes.equals(bytes)) return there !== null
  const [theirs, ours] = [there.bytes.toString().trim(), bytes.toString().trim()]
  return refuse('push_other_config', { to: to.name, theirs, ours })
}

/** Checks all files against each other and the target; refuses with every issue at once. */
async function checkAll(
  files: readonly string[],
  to: Place,
  settings: Settings,
  urls: RegistryUrls,
) {
  const releases = new StaticReleases(settings, urls)
  await asCaller(() => releases.add(files))
  const names = releases.crates.flat().flatMap(release => {
    const { ownDependencies, cratesIoDependencies } = policyQuestions(release)
    return [release.name, ...ownDependencies, ...cratesIoDependencies]
  })
  const elsewhere = new Map<CanonicalName, Name>()
  await forEachConcurrently([...new Set(names)], async name => {
    const spelling = await findSpelling(to, name)
    if (spelling !== null) elsewhere.set(canonicalName(name), spelling)
  })
  releases.check(false, elsewhere)
  const { crates, issues } = releases
  await forEachConcurrently(crates, async ([first, ...rest]) => {
    const { name } = first
    const existing = elsewhere.get(canonicalName(name)) ?? name
    if (existing !== name)
      return issues.push(inFile(first.path, issue('name_taken', { name, existing })))
    const index = await readIndex(to, indexPath(name))
    for (const release of [first, ...rest]) {
      const place = placeIn(index, release)
      if (typeof place !== 'string') issues.push(inFile(release.path, place))
    }
  })
  refuseErrors(issues)
  return { crates, warnings: issues }
}

/**
 * Of two pushes of new crates whose names differ only in `-` and `_`, lets one pass: reserves the
 * name until the index has it. A reservation that a killed push left holds for the same spelling.
 */
async function reserve(to: Place, name: Name): Promise<void> {
  const path = reservation(name)
  if (!needsReservation(name) || (await readIndex(to, indexPath(name))).name !== null) return
  if (!(await to.put(path, Buffer.from(name), { onlyIf: 'absent' }))) {
    const existing = (await to.read(path))?.bytes.toString() ?? name
    if (existing !== name) refuse('push_reserved', { name, existing, path: `${to.name}/${path}` })
  }
  const existing = await findSpelling(to, name)
  if (existing === null || existing === name) return
  await to.remove(path)
  refuse('name_taken', { name, existing })
}

function needsReservation(name: Name): boolean {
  return /[-_]/.test(name)
}

function reservation(name: Name): string {
  return `${PUSH_FOLDER}/${canonicalName(name)}`
}

/** Uploads a `.crate`. Bytes that are there are never replaced: a line of the index may name them. */
async function upload(to: Place, release: StaticRelease, dl: OwnDl | null): Promise<void> {
  const { name, version, path, entry } = release
  const bytes = await asCaller(() => readBytes(path))
  if (bytes === null || sha256(bytes) !== entry.cksum) return refuse('file_changed', { path })
  const target = packagePath(release, dl)
  const { cksum } = entry
  await sweepStale(to, target)
  if (await to.put(target, bytes, { cksum, onlyIf: 'absent' })) return
  const isAsLong = (await to.head(target))?.size === bytes.length
  const there =
    isAsLong && ((await to.checksum(target)) ?? (await to.read(target, READ_MAX))?.bytes)
  if (there && (typeof there === 'string' ? there : sha256(there)) === cksum) return
  const place = placeIn(await readIndex(to, indexPath(name)), release)
  const at = `${to.name}/${target}`
  throw new Refusal([
    typeof place === 'string' ? issue('push_unlisted', { name, version, path: at }) : place,
  ])
}

/** Adds a crate's releases to its index file, over exactly the one that was read. */
async function list(to: Place, crate: StaticCrate, dl: OwnDl | null): Promise<PushedFile[]> {
  const { name } = crate[0]
  const path = indexPath(name)
  const tried = new Set<StaticRelease>()
  const attempt = async (): Promise<void> => {
    const index = await readIndex(to, path)
    const missing: StaticRelease[] = []
    for (const release of crate) {
      const place = placeIn(index, release)
      if (place === 'missing') missing.push(release)
      else if (place !== 'present') {
        // Other build metadata has taken the version: no line will ever name these bytes.
        if (!index.lines.some(({ entry }) => entry.vers === release.version))
          await to.remove(packagePath(release, dl))
        throw new Refusal([place])
      }
    }
    if (missing.length === 0) return
    for (const release of missing) tried.add(release)
    const bytes = renderWith(index, missing)
    await sweepStale(to, path)
    const onlyIf = index.etag === null ? 'absent' : { etag: index.etag }
    // This also covers a lost answer: the next attempt finds the lines.
    if (!(await to.put(path, bytes, { onlyIf }))) throw new Transient(path)
  }
  try {
    await retried(CONTENTION_MS, attempt)
  } catch (error) {
    if (error instanceof Transient) refuse('push_contended', { path })
    throw error
  }
  return crate.map(release => ({
    path: release.path,
    name,
    version: release.version,
    outcome: tried.has(release) ? 'pushed' : 'present',
  }))
}

/** Removes what killed pushes left half-written beside a file of a folder. */
async function sweepStale(to: Place, path: string): Promise<void> {
  if (to.local) await sweepFolder(dirname(to.local(path)), true)
}
