import { posix } from 'node:path'
import { type Issue, issue } from '../../../core/error/error.ts'
import type { Name } from '../../../core/name.ts'
import {
  crateFilePath,
  crateFolder,
  crateKey,
  cratePagePaths,
  imagePath,
  VERSIONS_SHOWN,
  versionPagePaths,
  versionsPath,
} from '../../../core/paths/crates.ts'
import { configPath, indexPath, type Output, output, publicFile } from '../../../core/paths/tree.ts'
import type { RegistryUrls } from '../../../core/urls/urls.ts'
import { disk } from '../../places/disk/disk.ts'
import { fileChecksum } from '../../places/disk/files.ts'
import { type CrateRecord, readCrate } from '../../records/crates.ts'
import { currentMarks, type Mark, markAgain, marksOf, settleMarks } from '../../records/marks.ts'
import { deletedVersions, listReleases, type ReleaseRecord } from '../../records/releases.ts'
import type { BuildContext } from '../context.ts'

/** Renders `config.json`: `dl`, `api` if any, `auth-required` if true (specification A.1). */
export function renderConfig(urls: RegistryUrls, authRequired: boolean): Output {
  const config = {
    dl: urls.dl,
    ...(urls.api !== null && { api: urls.api }),
    ...(authRequired && { 'auth-required': true }),
  }
  return output(configPath, `${JSON.stringify(config)}\n`)
}

/** Renders a crate's index file from its lines, each without a line end (specification A.2). */
export function renderIndex(name: Name, lines: readonly string[]): Output {
  return output(indexPath(name), lines.map(line => `${line}\n`).join(''))
}

/** The files of one crate in the public tree. */
export interface CrateFiles {
  /** The `.crate` files: checksum by path. */
  readonly crates: ReadonlyMap<string, string>
  /** The index file; null when all versions were deleted. */
  readonly index: Output | null
  /** Returns whether a path below the crate's folder belongs to the crate, such as its pages. */
  readonly isPart: (path: string) => boolean
}

/**
 * Returns the files of a crate in the public tree. A crate whose versions were all deleted has no
 * index file: Cargo understands a 404, but takes an empty file for a broken one.
 */
export function filesOf(crate: CrateRecord, releases: readonly ReleaseRecord[]): CrateFiles {
  const { name } = crate
  const lines = releases.map(release => release.line)
  const crates = new Map(
    releases.map(release => [crateFilePath(name, release.version), release.cksum]),
  )
  const pages = new Set(releases.length > 0 ? cratePagePaths(name) : [])
  if (releases.length <= VERSIONS_SHOWN) pages.delete(versionsPath(name))
  for (const { version } of releases)
    for (const path of versionPagePaths(name, version)) pages.add(path)
  const images = new Set(
    releases.map(release => posix.dirname(imagePath(name, release.version, 'x'))),
  )
  const isPart = (path: string): boolean =>
    crates.has(path) || pages.has(path) || images.has(posix.dirname(path))
  return { crates, index: lines.length > 0 ? renderIndex(name, lines) : null, isPart }
}

/**
 * Renders one crate again regardless of marks, and removes files that do not belong to it; the
 * caller holds the mutex. Returns lost `.crate` files as issues and renders the rest without them.
 */
export async function rebuildCrate(context: BuildContext, crateId: number): Promise<Issue[]> {
  const crate = await readCrate(context.database, crateId)
  if (!crate) return []
  await context.tree.sweep(posix.dirname(indexPath(crate.name)))
  const { lost, marks } = await context.tree.batch(tree => renderWhole({ ...context, tree }, crate))
  await settleMarks(context.database, marks)
  return lost
}

/**
 * Does the work of `rebuildCrate`, but leaves half-written files in the folder of the index file,
 * which other crates share. Returns the marks to clear once everything is on disk.
 */
export async function renderWhole(
  context: BuildContext,
  crate: CrateRecord,
): Promise<{ readonly lost: Issue[]; readonly marks: readonly Mark[] }> {
  const { database } = context
  guardCrates(context, [crate.id])
  // Read before the releases: a later change sets a new mark.
  const both = ['index', 'whole'].map(kind => ({ kind, subject: crate.id }))
  const own = await currentMarks(database, both)
  const releases = await listReleases(database, crate.id)
  const ids = releases.map(release => release.id)
  const shown = await currentMarks(database, marksOf('file', ids))
  const lost = await renderAgain(context, crate, releases)
  return { lost, marks: lost.length > 0 ? [] : [...own, ...shown] }
}

async function renderAgain(
  context: BuildContext,
  crate: CrateRecord,
  releases: readonly ReleaseRecord[],
): Promise<Issue[]> {
  const { tree, crates } = context
  const files = filesOf(crate, releases)
  const lost: Issue[] = []
  for (const { version, cksum } of releases) {
    const place = publicFile(crateFilePath(crate.name, version))
    const source = crates.path(crateKey(crate.name, cksum))
    if (source === null) {
      await tree.showStored(place, crateKey(crate.name, cksum))
      continue
    }
    // Damaged bytes never replace what may be the last good copy.
    const isSound =
      (await disk.run('isSameFile', tree.path(place.path), source)) ||
      (await fileChecksum(source)) === cksum
    if (isSound) await tree.show(place, source)
    else lost.push(issue('crate_lost', { name: crate.name, version }))
  }
  if (files.index) await tree.write(files.index)
  else await tree.remove(indexPath(crate.name))
  for await (const path of tree.list(crateFolder(crate.name)))
    if (!files.isPart(path)) await tree.remove(path)
  await removeDeleted(context, crate, files)
  return lost
}

/** Removes deleted versions from where they are not listed: in a mirror, in the caches of a CDN. */
async function removeDeleted(
  { database, tree }: BuildContext,
  { name }: CrateRecord,
  files: CrateFiles,
): Promise<void> {
  if (!tree.isFollowed) return
  for (const version of await deletedVersions(database, name)) {
    const path = crateFilePath(name, version)
    if (files.crates.has(path)) continue
    await tree.remove(path)
    await tree.removeFolder(`${crateFolder(name)}/${version}`)
  }
}

/** Another process that is given the mutex meanwhile may render these crates newer. */
export function guardCrates({ database, mutex }: BuildContext, ids: readonly number[]): void {
  mutex.ifLost(() => markAgain(database, marksOf('whole', ids)))
}
