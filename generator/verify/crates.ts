import { createReadStream } from 'node:fs'
import { parseEntry } from '../../core/entry/parse.ts'
import { renderEntry } from '../../core/entry/render.ts'
import { Refusal } from '../../core/error/error.ts'
import { crateFilePath, crateFolder, crateKey } from '../../core/paths/crates.ts'
import { configPath, indexPath } from '../../core/paths/index-files.ts'
import { type BuildContext, filesOf, rebuildCrate, renderConfig } from '../build/crate.ts'
import { orphans, removeOrphan, withoutRelease } from '../build/orphans.ts'
import { type CrateRecord, eachCrate, readCrate, registryCounts } from '../store/catalog/crates.ts'
import { isMarked } from '../store/catalog/marks.ts'
import { listReleases, type ReleaseRecord, releaseOfBytes } from '../store/catalog/releases.ts'
import { fileChecksum, isSameFile } from '../store/durable-file.ts'
import { derivable, type Finding, findingsAbout, lost, type VerifyOptions } from './finding.ts'

/** Compares catalog, crate store and public tree, byte for byte; yields what differs. */
export async function* verifyCrates(
  context: BuildContext,
  options: VerifyOptions,
): AsyncIterable<Finding> {
  // First: a link in place of a crate's folder is removed before anything is written behind it.
  for await (const path of orphans(context)) {
    if (options.repair) await removeOrphan(context, path)
    yield derivable(path, 'belongs to no crate of the catalog', options.repair)
  }
  const { crates: total } = await registryCounts(context.database)
  let done = 0
  for await (const { id, name } of eachCrate(context.database)) {
    yield* findingsAbout(name, () => verifyRecords(context, id, options.repair))
    yield* findingsAbout(name, () => verifyTree(context, id, options))
    done++
    options.progress?.(done, total)
  }
  yield* await verifyConfig(context, options.repair)
  if (!options.repair) return
  await context.tree.sweepOld()
  await context.crates.sweep()
  yield* setOrphansAside(context)
}

/** Checks records against themselves and the crate store; no lock, because they never change. */
async function verifyRecords(
  context: BuildContext,
  crateId: number,
  repair: boolean,
): Promise<Finding[]> {
  const crate = await readCrate(context.database, crateId)
  if (!crate) return []
  const findings: Finding[] = []
  for (const release of await listReleases(context.database, crateId)) {
    const where = `${crate.name}@${release.version}`
    const line = lineFault(crate, release)
    if (line) findings.push(lost(where, line))
    const key = crateKey(crate.name, release.cksum)
    const stored = await fileChecksum(context.crates.path(key))
    if (stored === release.cksum) continue
    const copy = context.tree.path(crateFilePath(crate.name, release.version))
    const isCopied = (await fileChecksum(copy)) === release.cksum
    const fault = stored
      ? 'the bytes in the crate store are not those published'
      : 'the crate store has no bytes'
    const what = `${fault} (${key})`
    if (isCopied && repair) {
      // The public tree has the bytes that the crate store has lost.
      const { crates, mutex } = context
      const staged = await crates.stage(createReadStream(copy), Number.POSITIVE_INFINITY)
      await mutex.run(() => staged.keep(key))
    }
    findings.push(isCopied ? derivable(where, what, repair) : lost(where, what))
  }
  return findings
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
    return renderEntry(entry) === release.line
      ? null
      : 'the index entry in the catalog was changed by hand'
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return `the index entry in the catalog is broken: ${error.message}`
  }
}

/** Checks a crate in the public tree. Faults are confirmed, and repaired, under the mutex. */
async function verifyTree(
  context: BuildContext,
  crateId: number,
  options: VerifyOptions,
): Promise<Finding[]> {
  if ((await treeFaults(context, crateId, options)).length === 0) return []
  return context.mutex.run(async () => {
    const faults = await treeFaults(context, crateId, options)
    if (!options.repair || faults.length === 0) return faults
    await rebuildCrate(context, crateId)
    const left = new Set((await treeFaults(context, crateId, options)).map(one => one.where))
    return faults.map(one => ({ ...one, repaired: !left.has(one.where) }))
  })
}

async function treeFaults(
  { database, tree, crates }: BuildContext,
  crateId: number,
  { served }: VerifyOptions,
): Promise<Finding[]> {
  const crate = await readCrate(database, crateId)
  if (!crate) return []
  // Releases before the mark: a change that comes in between is seen by its mark.
  const files = filesOf(crate, await listReleases(database, crateId))
  if (await isMarked(database, { kind: 'index', subject: crateId })) {
    return served
      ? []
      : [derivable(crate.name, 'changes wait to be rendered; `plimsoll build` does it')]
  }
  const findings: Finding[] = []
  for (const [path, cksum] of files.crates) {
    // A link has the bytes of the crate store, which are looked at there.
    if (await isSameFile(tree.path(path), crates.path(crateKey(crate.name, cksum)))) continue
    const shown = await fileChecksum(tree.path(path))
    if (shown === cksum) continue
    const what = shown
      ? 'the bytes are not those of the catalog'
      : 'the .crate is not in the public tree'
    findings.push(derivable(path, what))
  }
  const index = indexPath(crate.name)
  const present = await tree.read(index)
  if (!files.index && present) findings.push(derivable(index, 'has no versions left'))
  if (files.index && !present?.equals(files.index.bytes))
    findings.push(derivable(index, present ? 'differs from the catalog' : 'is missing'))
  for await (const path of tree.list(crateFolder(crate.name)))
    if (!files.isPart(path)) findings.push(derivable(path, 'is no part of its crate'))
  return findings
}

async function verifyConfig(context: BuildContext, repair: boolean): Promise<Finding[]> {
  const expected = renderConfig(context.urls, context.authRequired)
  const present = await context.tree.read(configPath)
  if (present?.equals(expected.bytes)) return []
  if (repair) await context.mutex.run(() => context.tree.write(expected))
  return [derivable(configPath, present ? 'differs from the settings' : 'is missing', repair)]
}

/**
 * Moves bytes without a release aside, which a crash or a race may leave; otherwise they are no
 * finding. Not removed: beside an old backup they may be all that is left of newer releases.
 */
async function* setOrphansAside(context: BuildContext): AsyncIterable<Finding> {
  for await (const key of context.crates.list()) {
    const cksum = /([0-9a-f]{64})\.crate$/.exec(key)?.[1] ?? ''
    // Without the mutex: nearly all of them are some release's.
    if (await releaseOfBytes(context.database, cksum)) continue
    const aside = await withoutRelease(context, cksum, () => context.crates.setAside(key))
    const what = `bytes that belong to no release now lie in crates/${aside}; add or remove them`
    if (aside) yield derivable(key, what, true)
  }
}
