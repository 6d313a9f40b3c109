import { renderEntry } from '../../core/entry/entry.ts'
import { checkFeatures } from '../../core/entry/features.ts'
import { parseEntry, readEntry } from '../../core/entry/parse.ts'
import { Refusal } from '../../core/error/error.ts'
import { cksumOfKey, crateFilePath, crateKey } from '../../core/paths/crates.ts'
import { configPath } from '../../core/paths/tree.ts'
import { ownDl } from '../../core/urls/dl-template.ts'
import { urgentOf } from '../pages/build.ts'
import { fileBytes, hasChecksum, sweepFolder } from '../places/disk/files.ts'
import { orphans, removeOrphan } from '../projections/index/orphans.ts'
import { type CrateRecord, crateRecords, eachCrate, readCrate } from '../records/crates.ts'
import { listReleases, type ReleaseRecord } from '../records/releases.ts'
import { listTombstones, releaseOfBytes } from '../records/releases-stored.ts'
import { withoutRelease } from '../registry/changes/another-writer.ts'
import type { Registry } from '../registry/registry.ts'
import { faultOf } from '../sandbox/sandbox.ts'
import { derivable, type Finding, findingsAbout, lost, type VerifyOptions } from './finding.ts'
import { verifyProjections } from './pages.ts'

/** Compares records, crate store, and public tree byte for byte; yields the differences. */
export async function* verifyCrates(
  context: Registry,
  options: VerifyOptions,
): AsyncIterable<Finding> {
  // Comes first: removes a link in place of a crate's folder before its target could be changed.
  yield* findingsAbout('public', () => verifyOrphans(context, options.repair))
  const total = await crateRecords(context.database)
  let done = 0
  for await (const { id, name } of eachCrate(context.database)) {
    yield* findingsAbout(name, () => verifyRecords(context, id, options.repair))
    options.progress?.('verifying crates', ++done, total)
  }
  const fault = ownDl(context.urls)?.fault
  if (fault) yield lost(configPath, `no download works: ${fault}; choose another \`registry.dl\``)
  yield* verifyProjections(context, options, urgentOf(context))
  yield* verifyDeleted(context, options.repair)
  if (!options.repair) return
  options.progress?.('looking for leftover files', 0, 0)
  await sweepFolder(context.tree.root)
  await context.crates.sweep()
  yield* setOrphansAside(context)
}

async function* verifyOrphans(context: Registry, repair: boolean): AsyncIterable<Finding> {
  for await (const path of orphans(context)) {
    if (repair) await removeOrphan(context, path)
    yield derivable(path, 'belongs to no crate of the records', repair)
  }
}

/** Checks records for consistency and against the crate store; no lock: they never change. */
async function* verifyRecords(
  context: Registry,
  crateId: number,
  repair: boolean,
): AsyncIterable<Finding> {
  const crate = await readCrate(context.database, crateId)
  if (!crate) return
  for (const release of await listReleases(context.database, crateId)) {
    const where = `${crate.name}@${release.version}`
    const line = lineFault(crate, release)
    if (line) yield lost(where, `${line}; restore a backup`)
    const key = crateKey(crate.name, release.cksum)
    const size = await context.crates.size(key)
    // More bytes may have no end.
    const isLong = (size ?? 0) > release.size
    if (!isLong && (await context.crates.checksum(key)) === release.cksum) {
      const fault = await faultFor(context, crate, release)
      const cure = 'publish another version, and yank or delete this one'
      if (fault && !line) yield lost(where, `no Cargo can use it: ${fault}; ${cure}`)
      continue
    }
    const copy = context.tree.path(crateFilePath(crate.name, release.version))
    const isCopied = (await hasChecksum(copy, release.size, release.cksum)) === true
    const fault =
      size !== null
        ? 'the bytes in the crate store are not the published ones'
        : 'the bytes are missing from the crate store'
    const what = `${fault} (${key})`
    if (isCopied && repair) {
      // Restores bytes that the crate store has lost from the public tree.
      const { crates, mutex } = context
      const staged = await crates.stage(fileBytes(copy), Number.POSITIVE_INFINITY)
      await mutex.run(() => staged.keep(key))
    }
    const cure = 'put them back with `plimsoll add FILE`, or from a backup'
    yield isCopied ? derivable(where, what, repair) : lost(where, `${what}; ${cure}`)
  }
}

async function faultFor(
  { crates }: Registry,
  { name }: CrateRecord,
  { version, cksum, line }: ReleaseRecord,
): Promise<string | null> {
  const [issue] = checkFeatures(readEntry(line), 'published')
  const file = issue ? null : await crates.localFile(crateKey(name, cksum))
  return issue?.message ?? (file && faultOf({ ...file, identity: { name, version } }))
}

function lineFault(crate: CrateRecord, release: ReleaseRecord): string | null {
  try {
    const entry = parseEntry(release.line)
    const agrees =
      entry.name === crate.name &&
      entry.vers === release.version &&
      entry.cksum === release.cksum &&
      entry.yanked === release.yanked
    if (!agrees) return 'the index entry in the records contradicts its other fields'
    return renderEntry(entry) === release.line
      ? null
      : 'the index entry in the records was changed by hand'
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return `the index entry in the records is broken: ${error.message}`
  }
}

/**
 * Looks for the bytes of deleted versions, which a deletion leaves that is killed or fails. They
 * are set aside, not removed: older records than the bytes do not know of a version that came back.
 */
async function* verifyDeleted(context: Registry, repair: boolean): AsyncIterable<Finding> {
  const { crates, database } = context
  for (const { name, version, cksum } of await listTombstones(database)) {
    const key = crateKey(name, cksum)
    if ((await crates.size(key)) === null) continue
    const place = await withoutRelease(context, cksum, async () =>
      repair ? `moved to ${await crates.setAside(key)}; remove them there` : key,
    )
    const what = 'was deleted, but its bytes are in the crate store'
    if (place) yield derivable(`${name}@${version}`, `${what} (${place})`, repair)
  }
}

/**
 * Sets bytes without a release aside, which a crash or a race may leave; without a repair they are
 * no finding. After a restore of an old backup, they may be all that is left of newer releases.
 */
async function* setOrphansAside(context: Registry): AsyncIterable<Finding> {
  for await (const key of context.crates.list()) {
    const cksum = cksumOfKey(key) ?? ''
    // Checked without the mutex first: nearly all bytes belong to a release.
    if (await releaseOfBytes(context.database, cksum)) continue
    const aside = await withoutRelease(context, cksum, () => context.crates.setAside(key))
    const what = `bytes without a release were moved to ${aside}; add or remove them`
    if (aside) yield derivable(key, what, true)
  }
}
