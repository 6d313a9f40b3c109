import type { Catalog } from './catalog/catalog.ts'
import type { CrateRecord, Mark } from './catalog/record.ts'
import type { CrateStore } from './crate-store.ts'
import type { Turnstile } from './lock.ts'
import type { Name } from './name.ts'
import { CRATES_FOLDER, configPlace, crateKey, cratePagePaths, cratePlace, INDEX_FOLDER, indexPlace } from './paths.ts'
import type { PublicTree } from './public-tree.ts'
import { renderConfig, renderIndex } from './render.ts'
import type { RegistryUrls } from './urls.ts'
import type { Version } from './version.ts'

/** What a build reads, where it writes, and who else may not build meanwhile. */
export interface Workshop {
  readonly catalog: Catalog
  readonly crates: CrateStore
  readonly tree: PublicTree
  readonly turnstile: Turnstile
  readonly urls: RegistryUrls
  readonly authRequired: boolean
}

/** Told after each crate of a long build; `total` counts the crates to do. */
export type Progress = (done: number, total: number) => void

/** Grows when an equal catalog renders to another tree, so that an upgraded registry builds itself anew. */
const TREE_FORMAT = '1'

/**
 * Renders one crate: shows the `.crate` files that are not shown yet, then writes its index file whole, then takes the
 * marks off. A line never precedes its `.crate`; a crash leaves the marks, and the next build does the same again.
 * `onBegin` is called when the catalog is about to be read: changes made later need another build.
 */
export async function buildCrate(workshop: Workshop, crateId: number, onBegin?: () => void): Promise<void> {
  await workshop.turnstile.run(async () => {
    onBegin?.()
    const crate = await workshop.catalog.crate(crateId)
    if (!crate) return
    const files = await workshop.catalog.fileMarks(crateId)
    for (const file of files) await showCrate(workshop, crate, file.version, file.cksum)
    await writeIndex(workshop, crate)
    const index: Mark = { kind: 'index', subject: crateId, generation: crate.generation }
    await workshop.catalog.clear([...files, index])
  })
}

/** Makes the public tree equal to render(catalog): what changed, or everything where the tree is missing or outdated. */
export async function build(workshop: Workshop, options: { all?: boolean; progress?: Progress } = {}): Promise<number> {
  const everything = options.all || (await isOutdated(workshop))
  await workshop.tree.write(renderConfig(workshop.urls, workshop.authRequired))
  return everything ? buildEverything(workshop, options.progress) : drain(workshop, options.progress)
}

/** Renders every crate that is marked; the number of crates rendered. */
export async function drain(workshop: Workshop, progress?: Progress): Promise<number> {
  let done = 0
  for (const mark of await workshop.catalog.marks('whole')) await buildWhole(workshop, mark.subject)
  let marks = await workshop.catalog.marks('index')
  while (marks.length > 0) {
    for (const mark of marks) {
      await buildCrate(workshop, mark.subject)
      done++
      progress?.(done, done + marks.length)
    }
    marks = await workshop.catalog.marks('index')
  }
  return done
}

/** Renders one crate anew and removes what is no longer part of it. */
export async function buildWhole(workshop: Workshop, crateId: number): Promise<void> {
  await workshop.turnstile.run(() => rebuildCrate(workshop, crateId))
}

async function buildEverything(workshop: Workshop, progress?: Progress): Promise<number> {
  const { crates: total } = await workshop.catalog.counts()
  let done = 0
  for await (const crate of workshop.catalog.crates()) {
    await workshop.turnstile.run(() => rebuildCrate(workshop, crate.id))
    done++
    progress?.(done, total)
  }
  await prune(workshop)
  await workshop.catalog.setFact('tree_format', TREE_FORMAT)
  return done
}

/** Renders one crate anew, whatever is marked, and removes what is no longer part of it; the caller holds the lock. */
export async function rebuildCrate(workshop: Workshop, crateId: number): Promise<void> {
  const crate = await workshop.catalog.crate(crateId)
  if (!crate) return
  const files = await workshop.catalog.fileMarks(crateId)
  const shown = new Set(cratePagePaths(crate.name))
  for (const release of await workshop.catalog.releases(crateId)) {
    await showCrate(workshop, crate, release.version, release.cksum)
    shown.add(cratePlace(crate.name, release.version).path)
  }
  await writeIndex(workshop, crate)
  for await (const path of workshop.tree.list(`${CRATES_FOLDER}/${crate.name}`)) {
    if (!shown.has(path)) await workshop.tree.remove(path)
  }
  const { generation } = crate
  const done = (['index', 'whole'] as const).map(kind => ({ kind, subject: crateId, generation }))
  await workshop.catalog.clear([...files, ...done])
}

/** Removes what belongs to no crate of the catalog; holds the lock, so that no crate arrives meanwhile. */
async function prune(workshop: Workshop): Promise<void> {
  await workshop.turnstile.run(async () => {
    const names = new Set<string>()
    for await (const crate of workshop.catalog.crates()) names.add(crate.name)
    const places = new Set([configPlace.path, ...[...names].map(name => indexPlace(name as Name).path)])
    for await (const path of workshop.tree.list(INDEX_FOLDER)) if (!places.has(path)) await workshop.tree.remove(path)
    for (const name of await workshop.tree.folders(CRATES_FOLDER)) {
      if (!names.has(name)) await workshop.tree.removeFolder(`${CRATES_FOLDER}/${name}`)
    }
  })
}

async function showCrate(workshop: Workshop, crate: CrateRecord, version: Version, cksum: string): Promise<void> {
  await workshop.tree.show(cratePlace(crate.name, version), workshop.crates.path(crateKey(crate.name, cksum)))
}

/** A crate without versions has no index file: Cargo takes a 404 for what it is, and an empty file for a broken one. */
async function writeIndex(workshop: Workshop, crate: CrateRecord): Promise<void> {
  const lines = await workshop.catalog.lines(crate.id)
  if (lines.length > 0) await workshop.tree.write(renderIndex(crate.name, lines))
  else await workshop.tree.remove(indexPlace(crate.name).path)
}

async function isOutdated(workshop: Workshop): Promise<boolean> {
  if ((await workshop.catalog.fact('tree_format')) !== TREE_FORMAT) return true
  return (await workshop.tree.read(configPlace.path)) === null
}
