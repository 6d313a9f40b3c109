import { posix } from 'node:path'
import { type Issue, issue, Refusal } from '../../../core/error/error.ts'
import type { Name } from '../../../core/name.ts'
import { crateFilePath, crateFolder, crateKey } from '../../../core/paths/crates.ts'
import { indexPath, output, publicFile } from '../../../core/paths/tree.ts'
import { disk } from '../../places/disk/disk.ts'
import { fileChecksum } from '../../places/disk/files.ts'
import { isMissing, type ShownFile, type TextFile } from '../../places/disk/steps.ts'
import type { PublicTree } from '../../places/public-tree.ts'
import { currentMarks, type Mark, type MarkSubject } from '../../records/marks.ts'
import { deletedVersions, type IndexedCrate, indexFiles } from '../../records/releases.ts'
import type { BuildContext } from '../context.ts'
import { isInCrate, type Rendered } from '../projection.ts'
import { RenderBatch } from '../render-batch.ts'

/** The folders of index files that have been swept, for each tree that many crates are shown in. */
const swept = new WeakMap<PublicTree, Set<string>>()

/**
 * Shows the `.crate` files of crates, then writes their index files, so that no line precedes its
 * `.crate`; `sweeps`: removes half-written files from each folder before its first change. The
 * caller holds the mutex, and syncs what is done.
 */
export async function showCrates(
  context: BuildContext,
  crates: readonly IndexedCrate[],
  sweeps = false,
): Promise<Required<Pick<Rendered, 'done' | 'failed'>>> {
  context.mutex.renders(crates.map(({ id }) => wholeMark(id)))
  const folders = sweeps ? unswept(context.tree, crates) : []
  const failed = new Map<Mark, unknown>()
  const done: Mark[] = []
  const show = async (group: readonly IndexedCrate[], own: readonly string[]) => {
    await showTogether(context, group, own)
    for (const crate of group) done.push(...crate.unshown, indexMark(crate))
  }
  await show(crates, folders).catch(async () => {
    // One of them cannot be shown, or none.
    for (const crate of crates) {
      const own = folders.filter(folder => folder === posix.dirname(indexPath(crate.name)))
      await show([crate], own).catch(async (error: unknown) => {
        failed.set(indexMark(crate), (await lossOf(context, crate, error)) ?? error)
      })
    }
  })
  return { done, failed }
}

/**
 * Shows all of a crate regardless of marks, and removes the files of its folder that no projection
 * has for it. Fails when `.crate` files are lost, and shows the rest without them. The caller holds
 * the mutex, and syncs what is done.
 */
export async function showWhole(context: BuildContext, crateId: number): Promise<Rendered> {
  const { database, mutex, tree } = context
  mutex.renders([wholeMark(crateId)])
  // Read before the releases: a later change sets a new mark.
  const both = ['whole', 'index'].map(kind => ({ kind, subject: crateId }))
  const own = await currentMarks(database, both)
  const [crate] = await indexFiles(database, [crateId], 'all')
  if (!crate) return { done: own }
  const { name, text, unshown } = crate
  for (const folder of unswept(tree, [crate])) await tree.sweep(folder)
  const lost: Issue[] = []
  for (const release of unshown)
    if (!(await showSound(context, name, release)))
      lost.push(issue('crate_lost', { name, version: release.version }))
  if (text !== null) await tree.write(output(indexPath(name), text))
  else await tree.remove(indexPath(name))
  const versions = new Set(unshown.map(release => release.version))
  for await (const path of tree.list(crateFolder(name)))
    if (!isInCrate(context, path, { name, versions })) await tree.remove(path)
  // Where they are not listed: in a mirror, in the caches of a CDN.
  for (const version of tree.isFollowed ? await deletedVersions(database, name) : []) {
    if (versions.has(version)) continue
    await tree.remove(crateFilePath(name, version))
    await tree.remove(`${crateFolder(name)}/${version}`, true)
  }
  const [first, ...rest] = lost
  if (!first) return { done: [...own, ...unshown] }
  const mark = { ...wholeMark(crateId), generation: crate.generation }
  return { done: [], failed: new Map([[own[0] ?? mark, new Refusal([first, ...rest])]]) }
}

/** Shows a whole crate and syncs it; the caller holds the mutex. */
export async function rebuildCrate(context: BuildContext, crateId: number): Promise<void> {
  const batch = new RenderBatch(context)
  batch.add((await showWhole({ ...context, tree: batch.tree }, crateId)).done)
  await batch.settle()
}

function wholeMark(crateId: number): MarkSubject {
  return { kind: 'whole', subject: crateId }
}

/** Returns the folders of index files that are to be swept now, each of them once. */
function unswept(tree: PublicTree, crates: readonly IndexedCrate[]): string[] {
  const before = swept.get(tree) ?? new Set()
  swept.set(tree, before)
  const folders = new Set(crates.map(({ name }) => posix.dirname(indexPath(name))))
  const rest = [...folders].filter(folder => !before.has(folder))
  for (const folder of rest) before.add(folder)
  return rest
}

/** Shows a `.crate`; returns false if its bytes are lost, and leaves what is shown. */
async function showSound(
  { tree, crates }: BuildContext,
  name: Name,
  { version, cksum }: IndexedCrate['unshown'][number],
): Promise<boolean> {
  const place = publicFile(crateFilePath(name, version))
  const source = crates.path(crateKey(name, cksum))
  if (source === null) await tree.showStored(place, crateKey(name, cksum))
  // Damaged bytes never replace what may be the last good copy.
  else if (
    (await disk.run('isSameFile', tree.path(place.path), source)) ||
    (await fileChecksum(source)) === cksum
  )
    await tree.show(place, source)
  else return false
  return true
}

async function showTogether(
  { tree, crates: store }: BuildContext,
  crates: readonly IndexedCrate[],
  folders: readonly string[],
): Promise<void> {
  const texts: TextFile[] = []
  const files: ShownFile[] = []
  for (const { name, text, unshown } of crates) {
    for (const { version, cksum } of unshown) {
      const place = publicFile(crateFilePath(name, version))
      const key = crateKey(name, cksum)
      const source = store.path(key)
      // A daemon answers for entries that are not in files.
      if (source === null) await tree.showStored(place, key)
      else files.push({ path: place.path, source })
    }
    const path = indexPath(name)
    if (text !== null) texts.push({ path, text })
    else {
      // Cargo understands that a file is missing, but takes an empty one for a broken index.
      await tree.sweep(posix.dirname(path))
      await tree.remove(path)
    }
  }
  await tree.writeAll(texts, folders, files)
}

/** Returns a refusal if a crate cannot be shown because bytes of it are lost. */
async function lossOf(
  { crates }: BuildContext,
  { name, unshown }: IndexedCrate,
  error: unknown,
): Promise<Refusal | null> {
  if (!isMissing(error)) return null
  for (const { version, cksum } of unshown)
    if ((await crates.size(crateKey(name, cksum))) === null)
      return new Refusal([issue('crate_lost', { name, version })])
  return null
}

function indexMark({ id, generation }: IndexedCrate): Mark {
  return { kind: 'index', subject: id, generation }
}
