// generator/export: Writes crates for Cargo without a registry. One command calls it; it never
// changes the registry.
import { createHash, type Hash } from 'node:crypto'
import { appendFile, chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join, resolve, sep } from 'node:path'
import { compareText } from '../../core/entry/entry.ts'
import { parseEntry } from '../../core/entry/parse.ts'
import { inFile, Refusal, refuse } from '../../core/error/error.ts'
import {
  LOCK_MAX,
  type LockedPackage,
  type LockFile,
  parseLockFile,
} from '../../core/lock/lock-file.ts'
import { crateFile, crateKey } from '../../core/paths/crates.ts'
import { indexPath } from '../../core/paths/tree.ts'
import { sha256 } from '../../core/sha256.ts'
import { gather } from '../../core/tarball/bytes.ts'
import type { ArchiveLimits, Open } from '../../core/tarball/read.ts'
import { recoverArchive } from '../../core/tarball/recover.ts'
import type { Member } from '../../core/tarball/walk.ts'
import { sourceTable } from '../../core/upstream/cargo-config.ts'
import type { WantedVersion } from '../../core/upstream/line.ts'
import { asCaller, asOwner } from '../places/disk/caller.ts'
import { makeFolder } from '../places/disk/durable.ts'
import { openFile, readFolder, removeIfEmpty, statOf } from '../places/disk/files.ts'
import { temporaryPath } from '../places/disk/steps.ts'
import type { Progress } from '../projections/context.ts'
import { findCrate } from '../records/crates.ts'
import { findRelease } from '../records/releases.ts'
import type { Registry } from '../registry/registry.ts'

export interface CratesForExport {
  /** Returns the index line and the bytes of a version; with a checksum, only those bytes. */
  find(wanted: WantedVersion): Promise<{ readonly line: string; readonly bytes: Buffer } | null>
}

/** The folders that Cargo reads without a server, by the commands that users know. */
export const LAYOUTS = ['local-registry', 'vendor'] as const
export type Layout = (typeof LAYOUTS)[number]

export interface ExportOrder {
  readonly packages: readonly LockedPackage[]
  readonly layout: Layout
  readonly dir: string
  /** Returns where the crates of a registry are, by its index URL; null if nowhere. */
  readonly cratesOf: (source: string) => CratesForExport | null
  readonly limits: (size: number) => ArchiveLimits
}

interface ExportedCrate extends Pick<LockedPackage, 'name' | 'version'> {
  readonly line: string
  readonly cksum: string
  readonly bytes: Buffer
}

/**
 * Writes the crates of a lock file, as the caller, into a folder from which Cargo builds without a
 * server. The folder appears complete or not at all. Refuses one that has something in it, and
 * names all crates that are missing. Compares every checksum before it writes the crate. Returns
 * their number.
 */
export async function exportCrates(order: ExportOrder, progress?: Progress): Promise<number> {
  const { packages, dir, layout } = order
  const target = resolve(dir)
  const isFile = (await statOf(target))?.isDirectory() === false
  if (isFile || (await readFolder(target)).length > 0) refuse('export_not_empty', { dir })
  await makeFolder(dirname(target))
  const temporary = temporaryPath(target)
  const [missing, written]: [LockedPackage[], Map<string, string>] = [[], new Map()]
  try {
    await mkdir(join(temporary, layout === 'vendor' ? '' : 'index'), { recursive: true })
    for (const [at, locked] of packages.entries()) {
      progress?.('exporting crates', at, packages.length)
      const crate = await asOwner(() => readCrate(locked, order))
      const file = crateFile(locked.name, locked.version)
      if (!crate) missing.push(locked)
      else if (!written.has(file)) await WRITERS[layout](temporary, crate, order)
      else if (written.get(file) !== crate.cksum) refuse('export_twins', { file })
      if (crate) written.set(file, crate.cksum)
    }
    if (missing.length > 0) refuse('export_missing', { missing })
    if (!(await removeIfEmpty(target))) refuse('export_not_empty', { dir })
    await rename(temporary, target)
    return written.size
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}

async function readCrate(
  { name, version, source, checksum }: LockedPackage,
  { cratesOf }: ExportOrder,
): Promise<ExportedCrate | null> {
  const crate = await cratesOf(source)?.find({ name, version, cksum: checksum })
  if (!crate) return null
  const { cksum } = parseEntry(crate.line)
  const sum = sha256(crate.bytes)
  const expected = [checksum, cksum].find(other => other !== null && other !== sum)
  if (expected) refuse('import_checksum', { name, version, found: sum, expected })
  return { name, version, cksum, ...crate }
}

const WRITERS = { 'local-registry': writeLocal, vendor: writeVendored }

/** Writes `NAME-VERSION.crate`, and its line below `index/` (Cargo's `sources/registry/local.rs`). */
async function writeLocal(root: string, { name, version, line, bytes }: ExportedCrate) {
  const index = join(root, indexPath(name))
  await mkdir(dirname(index), { recursive: true })
  await appendFile(index, `${line}\n`)
  await writeFile(join(root, crateFile(name, version)), bytes)
}

/** Unpacks into `NAME-VERSION/` as `cargo vendor --versioned-dirs` does (its `vendor.rs`). */
async function writeVendored(
  root: string,
  { name, version, cksum, bytes }: ExportedCrate,
  { limits }: ExportOrder,
) {
  const top = `${name}-${version}`
  const folder = join(root, top)
  const sums = new Map<string, string>()
  const modes = new Map<string, number>()
  const write = async ({ path, kind, mode }: Member, content: Open): Promise<'go on'> => {
    const file = join(folder, path)
    // Windows has more kinds of paths that lead out.
    if (!`${file}${sep}`.startsWith(folder + sep)) refuse('archive_path', { path, reason: OUTSIDE })
    if (!isVendored(path)) return 'go on'
    await mkdir(kind === 'folder' ? file : dirname(file), { recursive: true })
    if (kind === 'folder') modes.set(file, (mode ?? 0o777) | 0o700)
    else {
      const hash = createHash('sha256')
      // What has the same path came before, and may have another mode.
      await rm(file, { force: true })
      await writeFile(file, hashed(content(), hash), { mode: (mode ?? 0o666) & 0o777 })
      // Cargo takes a backslash for one of Windows wherever it runs.
      sums.set(path.replaceAll('\\', '/'), hash.digest('hex'))
    }
    return 'go on'
  }
  const read = async function* () {
    yield bytes
  }
  const { fault, odd } = await recoverArchive(read, top, limits(bytes.length), write)
  const [issue = null] = [...(fault ? [fault] : []), ...odd]
  if (issue) throw new Refusal([inFile(crateFile(name, version), issue)])
  for (const [path, mode] of modes) await chmod(path, mode & 0o777 & ~process.umask())
  // Written by hand: an object would have keys such as `1` first.
  const files = [...sums].sort(([one], [other]) => compareText(one, other))
  const listed = files.map(([path, sum]) => `${JSON.stringify(path)}:"${sum}"`).join(',')
  await writeFile(
    join(folder, '.cargo-checksum.json'),
    `{"files":{${listed}},"package":"${cksum}"}`,
  )
}

const OUTSIDE = 'it leads out of the folder'

/** What `cargo vendor` leaves out, and a file that Cargo would take for its own. */
function isVendored(path: string): boolean {
  const parts = path.split('/')
  const last = parts.at(-1) ?? ''
  if (parts.includes('.git') || path === '.cargo-checksum.json') return false
  return last !== '.gitattributes' && last !== '.gitignore'
}

async function* hashed(content: AsyncIterable<Uint8Array>, hash: Hash) {
  for await (const piece of content) {
    hash.update(piece)
    yield piece
  }
}

/** Returns the tables that have Cargo read the folder in the place of the registries. */
export function exportConfig({ packages, layout, dir }: ExportOrder): string {
  const key = layout === 'vendor' ? 'directory' : layout
  const sources = new Set(packages.map(({ source }) => source))
  const replaced = [...sources].map(source => `${sourceTable(source, 'exported')}\n`)
  return `# In place of the other [source] tables in .cargo/config.toml; [registries] stays.
[source.exported]
${key} = ${JSON.stringify(dir)}

${replaced.join('\n')}`
}

/** Reads lock files of Cargo as one, with each package once; refuses a missing or wrong one. */
export async function readLockFiles(paths: readonly string[]): Promise<LockFile> {
  const packages = new Map<string, LockFile['packages'][number]>()
  const others = new Set<string>()
  for (const path of paths) {
    // A byte more than is accepted tells that there are more.
    const opened = await asCaller(() => openFile(path, { start: 0, end: LOCK_MAX }))
    if (!opened) return refuse('file_missing', { path })
    const text = new TextDecoder().decode(await gather(opened.bytes))
    const lock = parseLockFile({ name: path, text })
    for (const locked of lock.packages)
      packages.set(`${locked.source} ${locked.name} ${locked.version} ${locked.checksum}`, locked)
    for (const name of lock.others) others.add(name)
  }
  return { packages: [...packages.values()], others: [...others] }
}

/** Returns the crates of a registry itself; refuses one whose bytes are lost. */
export function recordedCrates({ database, crates }: Pick<Registry, 'database' | 'crates'>) {
  return {
    async find({ name, version, cksum }: WantedVersion) {
      const crate = await findCrate(database, name)
      const release = crate && (await findRelease(database, crate.id, version))
      const isMeant = crate?.name === name && release?.version === version
      if (!release || !isMeant || (cksum !== null && cksum !== release.cksum)) return null
      const opened = await crates.open(crateKey(name, release.cksum))
      if (!opened) return refuse('crate_lost', { name, version })
      return { line: release.line, bytes: Buffer.from(await gather(opened.bytes)) }
    },
  }
}
