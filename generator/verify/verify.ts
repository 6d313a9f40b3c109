import { createReadStream } from 'node:fs'
import { filesOf, folderOf, rebuildCrate } from '../build/crate.ts'
import { removeStray, setBytesAside, strays } from '../build/strays.ts'
import type { Workshop } from '../build/workshop.ts'
import type { CrateRecord, ReleaseRecord } from '../store/catalog/record.ts'
import { fileChecksum, isSameFile } from '../store/durable-file.ts'
import { parseEntry } from '../../core/entry/parse.ts'
import { renderEntry } from '../../core/entry/render.ts'
import { Refusal } from '../../core/error/error.ts'
import { configPlace, crateKey, cratePlace, indexPlace } from '../../core/paths.ts'
import { renderConfig } from '../render/index-files.ts'

/** A difference between two things that should agree. `lost` cannot be derived from anything else here. */
export interface Finding {
  readonly where: string
  readonly what: string
  readonly lost: boolean
  readonly repaired: boolean
}

/** How a verification goes about it. */
export interface VerifyOptions {
  /** Mend what can be derived. */
  readonly repair: boolean
  /** Whether a daemon is at work: then what is marked as pending is its business and no finding. */
  readonly served: boolean
  readonly progress?: (done: number, total: number) => void
}

/** Holds catalog, crate store and public tree against each other, byte for byte; yields what differs. */
export async function* verify(workshop: Workshop, options: VerifyOptions): AsyncIterable<Finding> {
  // First of all: a link in the place of a crate's folder goes before anything is written, or removed, behind it.
  for await (const path of strays(workshop)) {
    if (options.repair) await removeStray(workshop, path)
    yield derivable(path, 'belongs to no crate of the catalog', options.repair)
  }
  const { crates: total } = await workshop.catalog.counts()
  let done = 0
  for await (const { id } of workshop.catalog.crates()) {
    yield* await verifyTruth(workshop, id, options.repair)
    yield* await verifyTree(workshop, id, options)
    done++
    options.progress?.(done, total)
  }
  yield* await verifyConfig(workshop, options.repair)
  if (!options.repair) return
  await workshop.tree.sweepOld()
  await workshop.crates.sweep()
  yield* setOrphansAside(workshop)
}

/** Records against themselves and against the crate store; these never change, so that nobody has to wait meanwhile. */
async function verifyTruth(workshop: Workshop, crateId: number, repair: boolean): Promise<Finding[]> {
  const crate = await workshop.catalog.crate(crateId)
  if (!crate) return []
  const findings: Finding[] = []
  for (const release of await workshop.catalog.releases(crateId)) {
    const where = `${crate.name}@${release.version}`
    const line = lineFault(crate, release)
    if (line) findings.push({ where, what: line, lost: true, repaired: false })
    const key = crateKey(crate.name, release.cksum)
    const stored = await fileChecksum(workshop.crates.path(key))
    if (stored === release.cksum) continue
    const copy = workshop.tree.path(cratePlace(crate.name, release.version).path)
    const isCopied = (await fileChecksum(copy)) === release.cksum
    const what = stored ? 'the bytes in the crate store are not those published' : 'the crate store has no bytes'
    if (isCopied && repair) await restore(workshop, key, copy)
    findings.push({ where, what: `${what} (${key})`, lost: !isCopied, repaired: isCopied && repair })
  }
  return findings
}

/** The public tree has the bytes that the crate store has lost. */
async function restore({ crates, turnstile }: Workshop, key: string, copy: string): Promise<void> {
  const staged = await crates.stage(createReadStream(copy), Number.POSITIVE_INFINITY)
  await turnstile.run(() => staged.keep(key))
}

function lineFault(crate: CrateRecord, release: ReleaseRecord): string | null {
  try {
    const entry = parseEntry(release.line)
    const agrees =
      entry.name === crate.name &&
      entry.vers === release.version &&
      entry.cksum === release.cksum &&
      entry.yanked === release.yanked
    if (!agrees) return 'the index entry in the catalog contradicts the record it belongs to'
    return renderEntry(entry) === release.line ? null : 'the index entry in the catalog was changed by hand'
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return `the index entry in the catalog is broken: ${error.message}`
  }
}

/** A crate in the public tree. What looks wrong is looked at again, and mended, while nobody else writes. */
async function verifyTree(workshop: Workshop, crateId: number, options: VerifyOptions): Promise<Finding[]> {
  if ((await treeFaults(workshop, crateId, options)).length === 0) return []
  return workshop.turnstile.run(async () => {
    const faults = await treeFaults(workshop, crateId, options)
    if (!options.repair || faults.length === 0) return faults
    await rebuildCrate(workshop, crateId)
    const left = new Set((await treeFaults(workshop, crateId, options)).map(one => one.where))
    return faults.map(one => ({ ...one, repaired: !left.has(one.where) }))
  })
}

async function treeFaults(
  { catalog, tree, crates }: Workshop,
  crateId: number,
  { served }: VerifyOptions,
): Promise<Finding[]> {
  const crate = await catalog.crate(crateId)
  if (!crate) return []
  // Releases before the mark: a change that comes in between is seen by its mark.
  const files = filesOf(crate, await catalog.releases(crateId))
  if (await catalog.isMarked(crateId)) {
    return served ? [] : [derivable(crate.name, 'changes wait to be rendered; `plimsoll build` does it')]
  }
  const findings: Finding[] = []
  for (const [path, cksum] of files.crates) {
    // A link has the bytes of the crate store, which are looked at there.
    if (await isSameFile(tree.path(path), crates.path(crateKey(crate.name, cksum)))) continue
    const shown = await fileChecksum(tree.path(path))
    if (shown === cksum) continue
    const what = shown ? 'the bytes are not those of the catalog' : 'the .crate is not in the public tree'
    findings.push(derivable(path, what))
  }
  for (const { path, bytes } of files.outputs) {
    const present = await tree.read(path)
    if (present?.equals(bytes)) continue
    findings.push(derivable(path, present ? 'differs from the catalog' : 'is missing'))
  }
  const index = indexPlace(crate.name).path
  if (files.outputs.length === 0 && (await tree.read(index))) findings.push(derivable(index, 'has no versions left'))
  const known = new Set([...files.crates.keys(), ...files.outputs.map(one => one.path)])
  for await (const path of tree.list(folderOf(crate.name))) {
    if (!known.has(path) && !files.isPage(path)) findings.push(derivable(path, 'is no part of its crate'))
  }
  return findings
}

async function verifyConfig(workshop: Workshop, repair: boolean): Promise<Finding[]> {
  const expected = renderConfig(workshop.urls, workshop.authRequired)
  const present = await workshop.tree.read(configPlace.path)
  if (present?.equals(expected.bytes)) return []
  if (repair) await workshop.turnstile.run(() => workshop.tree.write(expected))
  return [derivable(configPlace.path, present ? 'differs from the settings' : 'is missing', repair)]
}

/**
 * Sets bytes without a release aside, which a crash or a race for a version may leave; they harm nobody and are no
 * finding otherwise. Not removed: with an old backup of the records, they are all that is left of newer releases.
 */
async function* setOrphansAside(workshop: Workshop): AsyncIterable<Finding> {
  for await (const key of workshop.crates.list()) {
    const cksum = /([0-9a-f]{64})\.crate$/.exec(key)?.[1] ?? ''
    if (await workshop.catalog.hasBytes(cksum)) continue
    const aside = await setBytesAside(workshop, key, cksum)
    if (aside)
      yield derivable(key, `bytes that belong to no release now lie in crates/${aside}; add or remove them`, true)
  }
}

function derivable(where: string, what: string, repaired = false): Finding {
  return { where, what, lost: false, repaired }
}
