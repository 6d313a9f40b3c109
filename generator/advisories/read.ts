// generator/advisories: Takes known holes from files into the records. Commands, builds and the
// start of the daemon call it; it contacts nobody.
import { join } from 'node:path'
import {
  ADVISORY_BYTES,
  type AdvisoryFile,
  advisoryPaths,
  type ReadAdvisory,
} from '../../core/advisory/files.ts'
import { collectBytes } from '../../core/async/collect-bytes.ts'
import { forEachConcurrently } from '../../core/async/concurrently.ts'
import { type Issue, inFile, issue, Refusal, refuse, refuseErrors } from '../../core/error/error.ts'
import { fileStats, openFile, readFolder, statOf } from '../places/disk/files.ts'
import type { KeptAdvisory } from '../records/advisories/change.ts'
import { sandbox } from '../sandbox/sandbox.ts'
import { SandboxError } from '../sandbox/thread.ts'

/** The files that a thread reads at once. */
const BATCH = 200

/** Advisories, and why other files are none. */
export interface AdvisoriesRead {
  readonly kept: readonly KeptAdvisory[]
  readonly issues: readonly Issue[]
}

/**
 * Reads the advisories of folders, `.tar.gz` archives and files, in threads. A file that is none is
 * an issue, and so is the second one with an id; all others are taken. Refuses a path where nothing
 * is, an archive that cannot be read, a source in which no file is one, and too many files.
 */
export async function readAdvisories(
  sources: readonly string[],
  origin: KeptAdvisory['origin'],
): Promise<AdvisoriesRead> {
  const all = new Map<string, KeptAdvisory>()
  const issues: Issue[] = []
  const read: ReadAdvisory[][] = []
  for (const source of sources) {
    const batches = await batchesOf(source)
    const found: ReadAdvisory[][] = []
    const readBatch = async (at: number) => {
      found[at] = await sandbox.run('readAdvisories', (await batches[at]?.()) ?? [])
    }
    await forEachConcurrently(batches.keys(), readBatch, sandbox.size)
    const bad = found.flat().flatMap(file => file.issue ?? [])
    // A cut download or a folder that is not mounted would take away all advisories.
    if (bad.length === found.flat().length && origin === 'given')
      refuseErrors([issue('advisories_empty', { path: source }), ...bad.slice(0, 5)])
    read.push(...found)
  }
  for (const { path, kept, issue: why } of read.flat()) {
    const isTwice = kept !== null && all.has(kept.name)
    if (why) issues.push(why)
    else if (kept && origin === 'own' && !/-\d{4}-\d{4,}$/.test(kept.name))
      issues.push(inFile(path, issue('advisory_id', { id: kept.name })))
    else if (isTwice) issues.push(inFile(path, issue('advisory_twice', { id: kept.name })))
    else if (kept) all.set(kept.name, { ...kept, origin })
  }
  return { kept: [...all.values()], issues }
}

/** Returns what reads the files of a source, batch by batch. */
async function batchesOf(source: string): Promise<(() => Promise<AdvisoryFile[]>)[]> {
  const stats = await statOf(source)
  if (!stats) refuse('file_missing', { path: source })
  if (stats.isDirectory()) {
    const paths = advisoryPaths(await filesBelow(source), source)
    return slices(paths).map(slice => async () => {
      const files: AdvisoryFile[] = []
      for (const path of slice) files.push(await readOne(join(source, path), path))
      return files
    })
  }
  if (!stats.isFile()) refuse('file_special', { path: source })
  if (/\.(?:md|json)$/i.test(source)) return [async () => [await readOne(source, source)]]
  const files = await sandbox.run('unpackAdvisories', source).catch(error => {
    if (!(error instanceof Refusal || error instanceof SandboxError)) throw error
    return refuse('advisories_archive', { path: source, reason: error.message })
  })
  return slices(files).map(slice => async () => slice)
}

/** Reads a file up to a byte more than an advisory may have; a pipe or device has none. */
async function readOne(file: string, path: string): Promise<AdvisoryFile> {
  const isFile = (await fileStats(file)) !== null
  const opened = isFile ? await openFile(file, { start: 0, end: ADVISORY_BYTES }) : null
  const bytes = opened && (await collectBytes(opened.bytes, Number.POSITIVE_INFINITY))
  return { path, bytes: bytes ?? Buffer.alloc(0) }
}

/** Returns the paths of all that is no folder below one, with `/`; follows links to files only. */
async function filesBelow(folder: string, below = ''): Promise<string[]> {
  const paths: string[] = []
  for (const entry of await readFolder(join(folder, below))) {
    if (entry.name.startsWith('.')) continue
    const path = below === '' ? entry.name : `${below}/${entry.name}`
    const isLink = entry.isSymbolicLink()
    const kind = isLink ? await statOf(join(folder, path)) : entry
    if (kind && !kind.isDirectory()) paths.push(path)
    else if (kind && !isLink) paths.push(...(await filesBelow(folder, path)))
  }
  return paths
}

function slices<T>(items: readonly T[]): T[][] {
  const count = Math.ceil(items.length / BATCH)
  return Array.from({ length: count }, (_, at) => items.slice(at * BATCH, (at + 1) * BATCH))
}
