import type { Name } from '../../core/name.ts'
import {
  changesPath,
  crateFolder,
  crateKey,
  cratePath,
  SOURCE_FOLDERS,
  sourcePath,
  versionPath,
} from '../../core/paths/crates.ts'
import { output } from '../../core/paths/tree.ts'
import { previousOf, type Version } from '../../core/version.ts'
import { readFileSum } from '../../site/compare/file-sum.ts'
import type { Comparison } from '../../site/compare/page.ts'
import type { VersionData } from '../../site/crate-data.ts'
import { relativeLink } from '../../site/elements/links.ts'
import { comparedVersion } from '../render/crate.ts'
import { unpackedLimit } from '../sandbox/archive.ts'
import { renderComparison, renderSource } from '../sandbox/rendering.ts'
import type { Package } from '../sandbox/source-task.ts'
import type { CrateRecord } from '../store/catalog/crates.ts'
import { isMarked, type Mark, type MarkSubject } from '../store/catalog/marks.ts'
import { readFailure, writeFailure } from '../store/catalog/pages/plain-pages.ts'
import { releaseMarkFor } from '../store/catalog/pages/release-marks.ts'
import {
  findRelease,
  isNewest,
  listVersions,
  type ReleaseRecord,
  readRelease,
} from '../store/catalog/releases.ts'
import type { PublicTree } from '../store/public-tree.ts'
import { PAGE_FORMAT, type PageContext } from './context.ts'

/** Returns what pages about the files of a release there are, so that others can link to them. */
export async function shownSource(
  { site, tree }: Pick<PageContext, 'site' | 'tree'>,
  name: Name,
  version: Version,
  hasPrevious: boolean,
): Promise<Pick<VersionData, 'source' | 'diff'>> {
  const source = site.source && (await tree.has(sourcePath(name, version)))
  const changes = source && hasPrevious ? await tree.read(changesPath(name, version)) : null
  return { source, diff: changes && readFileSum(changes) }
}

/** Up to this size of its `.crate`, the source of a release is rendered before its first page. */
const EARLY_BYTES = 32 * 1024

/**
 * Returns the mark of the source that has to be rendered before a page is, so that the page can
 * link to it and need not be rendered twice; null if it is there, or takes too long to wait for.
 */
export async function sourceBefore(context: PageContext, mark: Mark): Promise<Mark | null> {
  if (!context.site.source || (mark.kind !== 'page' && mark.kind !== 'release')) return null
  const source = await releaseMarkFor(context.database, 'source', mark, EARLY_BYTES)
  if (!source || (await context.tree.has(sourcePath(source.name, source.version)))) return null
  const { kind, subject, generation } = source
  return { kind, subject, generation }
}

/**
 * Writes the pages about the files of a release: its source, which never changes, and what differs
 * from the release before. Removes them if the source browser is off. Does nothing if the `.crate`
 * is lost: `verify` reports that. Returns the marks of pages that do not link to them yet and were
 * rendered before, also those among `done`; the others are still to come.
 */
export async function buildSource(
  context: PageContext,
  releaseId: number,
  done: readonly Mark[],
): Promise<readonly MarkSubject[]> {
  const { database, tree, site } = context
  const found = await readRelease(database, releaseId)
  if (!found) return []
  const { crate, release } = found
  const { version } = release
  if (!site.source) {
    for (const folder of SOURCE_FOLDERS)
      await tree.removeFolder(`${crateFolder(crate.name)}/${version}/${folder}`)
    return []
  }
  const files = await packageOf(context, crate.name, release)
  if (files === null) return []
  const isNew = !(await tree.has(sourcePath(crate.name, version)))
  const part = { releaseId, what: 'source', format: PAGE_FORMAT } as const
  const known = await readFailure(database, part)
  const job = { package: files, name: crate.name, version, site, place: release.about }
  const pages = renderSource(job, known)
  const written = new Set<string>()
  let step = await pages.next()
  try {
    for (; !step.done; step = await pages.next()) {
      written.add(step.value.path)
      await tree.write(step.value)
    }
  } finally {
    // Left in the middle, it would keep its thread for ever.
    await pages.return(null)
  }
  if (!isNew) await removeOthers(tree, `${crateFolder(crate.name)}/${version}`, written)
  if (step.value && step.value !== known) await writeFailure(database, part, step.value)
  await writeChanges(context, crate, release)
  return pagesWithoutLink(context, crate, release, done)
}

/** Removes what an earlier version of this program or another setting wrote. */
async function removeOthers(
  tree: PublicTree,
  folder: string,
  wanted: ReadonlySet<string>,
): Promise<void> {
  for (const part of SOURCE_FOLDERS.filter(one => one !== 'changes'))
    for await (const path of tree.list(`${folder}/${part}`))
      if (!wanted.has(path)) await tree.remove(path)
}

/** Writes the page with what differs from the release before; returns as `buildSource` does. */
export async function buildChanges(
  context: PageContext,
  releaseId: number,
  done: readonly Mark[],
): Promise<readonly MarkSubject[]> {
  const { database, site } = context
  const found = await readRelease(database, releaseId)
  if (!found || !site.source) return []
  await writeChanges(context, found.crate, found.release)
  return pagesWithoutLink(context, found.crate, found.release, done)
}

/**
 * Returns the marks of the pages in the tree that show a release, but do not link to its source or
 * sum up its changes: they were rendered before these. The pages themselves say so even after a
 * crash. Most pages are still to come, which their marks tell at less cost.
 */
async function pagesWithoutLink(
  { database, tree }: PageContext,
  { id, name }: CrateRecord,
  { id: releaseId, version }: ReleaseRecord,
  done: readonly Mark[],
): Promise<readonly MarkSubject[]> {
  const isToCome = async ({ kind, subject }: MarkSubject) =>
    !done.some(mark => mark.kind === kind && mark.subject === subject) &&
    (await isMarked(database, { kind, subject }))
  const changes = changesPath(name, version)
  const lacksLink = async (path: string) => {
    const page = await tree.read(path)
    if (page === null) return false
    const links = (one: string) => page.includes(`"${relativeLink(path, one)}`)
    if (!links(sourcePath(name, version))) return true
    const compared = await tree.read(changes)
    return compared !== null && !(links(changes) && page.includes(readFileSum(compared)))
  }
  const pages = [
    { mark: { kind: 'release', subject: releaseId }, path: versionPath(name, version) },
    ...((await isNewest(database, id, releaseId))
      ? [{ mark: { kind: 'page', subject: id }, path: cratePath(name) } as const]
      : []),
  ] as const
  const marks: MarkSubject[] = []
  for (const { mark, path } of pages)
    if (!(await isToCome(mark)) && (await lacksLink(path))) marks.push(mark)
  return marks
}

/** Writes or removes the page of changes. */
async function writeChanges(
  context: PageContext,
  crate: CrateRecord,
  release: ReleaseRecord,
): Promise<void> {
  const { database, tree, site } = context
  const path = changesPath(crate.name, release.version)
  const before = previousOf(await listVersions(database, crate.id), release.version)
  const previous = before && (await findRelease(database, crate.id, before.version))
  const packages = previous && (await packagesOf(context, crate.name, previous, release))
  if (!previous || !packages) {
    if (await tree.has(path)) await tree.remove(path)
    return
  }
  const side = (one: ReleaseRecord) => ({ version: comparedVersion(one), hasPages: true })
  const comparison: Comparison = {
    site,
    path,
    name: crate.name,
    before: side(previous),
    after: side(release),
    versions: null,
  }
  const format = `${PAGE_FORMAT} since ${previous.version}`
  const part = { releaseId: release.id, what: 'changes', format } as const
  const known = await readFailure(database, part)
  const { html, failure } = await renderComparison({ comparison, ...packages }, known)
  if (failure && !known) await writeFailure(database, part, failure)
  await tree.write(output(path, html))
}

/** Returns the `.crate` files of two releases; null if one of them is lost. */
export async function packagesOf(
  context: Pick<PageContext, 'crates'>,
  name: Name,
  before: ReleaseRecord,
  after: ReleaseRecord,
): Promise<{ readonly before: Package; readonly after: Package } | null> {
  const [one, other] = [
    await packageOf(context, name, before),
    await packageOf(context, name, after),
  ]
  return one && other && { before: one, after: other }
}

/** Returns the `.crate` file of a release; null if it is lost. */
export async function packageOf(
  { crates }: Pick<PageContext, 'crates'>,
  name: Name,
  { cksum }: Pick<ReleaseRecord, 'cksum'>,
): Promise<Package | null> {
  const file = await crates.localFile(crateKey(name, cksum))
  return file && { path: file.path, unpackedBytes: unpackedLimit(file.size) }
}
