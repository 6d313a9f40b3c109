import { buildCrate, rebuildCrate, sweepIndex } from './crate.ts'
import { removeStray, strays } from './strays.ts'
import type { Workshop } from './workshop.ts'
import { type Issue, Refusal } from '../../core/error/error.ts'
import { configPlace, INDEX_FOLDER } from '../../core/paths.ts'
import { renderConfig } from '../render/index-files.ts'


/** Told after each crate of a long build; `total` counts the crates to do. */
export type Progress = (done: number, total: number) => void

/** What a build did. */
export interface Built {
  readonly crates: number
  /** What could not be rendered; everything else was. */
  readonly issues: readonly Issue[]
}

/** Grows when an equal catalog renders to another tree, so that an upgraded registry builds itself anew. */
const TREE_FORMAT = '1'

/** Makes the public tree equal to render(catalog): what changed, or everything where the tree is missing or outdated. */
export async function build(workshop: Workshop, options: { all?: boolean; progress?: Progress } = {}): Promise<Built> {
  if (!options.all && (await isComplete(workshop))) {
    await writeConfig(workshop)
    return drain(workshop, options.progress)
  }
  // Until the end there is no format: a build that is killed is begun anew.
  await workshop.catalog.setFact('tree_format', null)
  const built = await buildEverything(workshop, options.progress)
  await writeConfig(workshop)
  await workshop.catalog.setFact('tree_format', TREE_FORMAT)
  return built
}

/** Renders every crate that is marked. */
export async function drain(workshop: Workshop, progress?: Progress): Promise<Built> {
  const { catalog } = workshop
  const issues: Issue[] = []
  let crates = 0
  for (const { subject } of await catalog.marks('whole')) issues.push(...(await buildWhole(workshop, subject)))
  let marks = await catalog.marks('index')
  while (marks.length > 0) {
    for (const { subject } of marks) {
      await workshop.turnstile.run(() => sweepAfterCrash(workshop, subject))
      issues.push(...(await objections(() => buildCrate(workshop, subject))))
      crates++
      progress?.(crates, Math.max(crates, marks.length))
    }
    marks = await catalog.marks('index', marks.at(-1)?.generation)
  }
  return { crates, issues }
}

/** Renders one crate anew and removes what is no longer part of it; what comes back could not be rendered. */
export async function buildWhole(workshop: Workshop, crateId: number): Promise<readonly Issue[]> {
  return workshop.turnstile.run(() => rebuildCrate(workshop, crateId))
}

async function buildEverything(workshop: Workshop, progress?: Progress): Promise<Built> {
  // First of all: a link in the place of a crate's folder goes before anything is written, or removed, behind it.
  for await (const path of strays(workshop)) await removeStray(workshop, path)
  const { crates: total } = await workshop.catalog.counts()
  const issues: Issue[] = []
  let crates = 0
  for await (const crate of workshop.catalog.crates()) {
    issues.push(...(await buildWhole(workshop, crate.id)))
    crates++
    progress?.(crates, total)
  }
  await workshop.tree.sweepOld()
  return { crates, issues }
}

/** What is marked at the start may have been at work when its process was killed. */
async function sweepAfterCrash(workshop: Workshop, crateId: number): Promise<void> {
  const crate = await workshop.catalog.crate(crateId)
  if (crate) await sweepIndex(workshop, crate.name)
}

/** One crate that cannot be rendered keeps no other from it; what nobody foresaw, a full disk say, ends the build. */
async function objections(work: () => Promise<void>): Promise<readonly Issue[]> {
  try {
    await work()
    return []
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return error.issues
  }
}

async function writeConfig(workshop: Workshop): Promise<void> {
  await workshop.turnstile.run(async () => {
    await workshop.tree.write(renderConfig(workshop.urls, workshop.authRequired))
    await workshop.tree.sweep(INDEX_FOLDER)
  })
}

async function isComplete(workshop: Workshop): Promise<boolean> {
  if ((await workshop.catalog.fact('tree_format')) !== TREE_FORMAT) return false
  return (await workshop.tree.read(configPlace.path)) !== null
}
