import { createHash } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Refusal, refusalOnly, refuse } from '../../../core/error/error.ts'
import { disk } from '../../places/disk/disk.ts'
import { makeFolder, writeDurably } from '../../places/disk/durable.ts'
import { readFolder, readText, statOf } from '../../places/disk/files.ts'
import { isTemporary } from '../../places/disk/steps.ts'
import type { Tip } from './engine.ts'
import { type GitAt, runGit } from './git-process.ts'

/** Cargo up to 1.49 asks for `master` by name, later ones for HEAD. */
export const BRANCH = 'refs/heads/master'

/** Configuration for other git programs; the engines pass theirs on their own command lines. */
const CONFIG = `[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = true
[gc]
\tauto = 0
[http]
\treceivepack = false
`

/** Creates a bare repository at `path` if there is none; no git templates, hooks, or defaults. */
export async function ensureBare(path: string): Promise<void> {
  await makeFolder(path)
  const names = await readdir(path)
  if (names.includes('HEAD') && names.includes('objects') && names.includes('refs'))
    return await checkFormat(path)
  // A kill during creation leaves some of these. HEAD comes last: until then the folder is not a
  // repository.
  const ours = ['config', 'objects', 'refs', 'info']
  if (names.some(name => !ours.includes(name) && !isTemporary(name)))
    refuse('git_index_occupied', { path })
  for (const folder of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags', 'info'])
    await makeFolder(join(path, folder))
  await writeDurably(join(path, 'config'), Buffer.from(CONFIG))
  await writeDurably(join(path, 'HEAD'), Buffer.from(`ref: ${BRANCH}\n`))
}

async function checkFormat(path: string): Promise<void> {
  const config = await readText(join(path, 'config'))
  if (/^\s*objectformat\s*=\s*sha256/im.test(config ?? ''))
    refuse('git_index_format', { path, format: 'SHA-256' })
  await headRef(path)
}

async function headRef(path: string): Promise<string> {
  const text = (await readText(join(path, 'HEAD'))) ?? ''
  const ref = /^ref: (refs\/heads\/[A-Za-z0-9][\w./-]*)\n?$/.exec(text)?.[1]
  if (!ref || /\.\.|\/\.|\.lock$/.test(ref))
    refuse('git_index_format', { path, format: 'a HEAD that is not a branch' })
  return ref
}

/** Returns HEAD's branch and commit, read as git does: the loose ref first, then packed-refs. */
export async function readTip(path: string): Promise<Tip> {
  const ref = await headRef(path)
  const loose = (await readText(join(path, ref)))?.trim()
  if (loose && /^[0-9a-f]{40}$/.test(loose)) return { ref, head: loose }
  const packed = (await readText(join(path, 'packed-refs'))) ?? ''
  const line = packed.split('\n').find(line => line.endsWith(` ${ref}`))
  return { ref, head: line?.slice(0, 40) ?? null }
}

/** Returns HEAD's commit; null before the first. */
export async function readHead(path: string): Promise<string | null> {
  return (await readTip(path)).head
}

/** Returns the id that git gives to a file's bytes. */
export function blobId(bytes: Uint8Array): string {
  return objectId('blob', bytes)
}

/** Returns the id that git gives to an object. */
export function objectId(kind: 'blob' | 'tree' | 'commit', bytes: Uint8Array): string {
  return createHash('sha1').update(`${kind} ${bytes.length}\0`).update(bytes).digest('hex')
}

/** Writes the files of `git update-server-info`, for plain file servers; only files that change. */
export async function updateServerInfo(path: string): Promise<void> {
  const { ref, head } = await readTip(path)
  const names = new Set(await readdir(join(path, 'objects', 'pack')))
  // A pack is listed only when its index exists, which git renames into place last.
  const packs = [...names].filter(
    name => /^pack-[0-9a-f]{40}\.pack$/.test(name) && names.has(name.replace(/pack$/, 'idx')),
  )
  const listed = packs.sort().map(pack => `P ${pack}\n`)
  await replaceDerived(join(path, 'objects', 'info', 'packs'), `${listed.join('')}\n`)
  await replaceDerived(join(path, 'info', 'refs'), head ? `${head}\t${ref}\n` : '')
}

/** Replaces a derived file without a sync: every start compares it again. */
async function replaceDerived(file: string, text: string): Promise<void> {
  if ((await readText(file)) !== text) await disk.run('replace', file, Buffer.from(text))
}

/** Maximum time of a lock on a ref: git needs milliseconds, so an older lock's process is dead. */
const LOCK_MS = 5_000
/** Maximum time of a lock during packing. */
const WORK_MS = 600_000

/** Waits for the locks of HEAD and its branch, and removes locks of killed processes. */
export async function removeStaleLocks(path: string, ref: string): Promise<void> {
  const locks = ['HEAD', 'packed-refs', ref].map(name => join(path, `${name}.lock`))
  for (const lock of locks) {
    const started = Date.now()
    const first = await modified(lock)
    for (let since = first; since !== null; since = await modified(lock)) {
      // The second condition is for a clock that was set back: the lock would never look old.
      if (Date.now() - since >= LOCK_MS || (since === first && Date.now() - started >= LOCK_MS))
        await rm(lock, { force: true })
      else await setTimeout(50)
    }
  }
}

/**
 * Removes files of killed processes: temporary objects and packs, locks, fast-import's marks; with
 * `all`, as nobody writes now, also those that are so new that somebody might.
 */
export async function removeStaleFiles(path: string, all = false): Promise<void> {
  const objects = (await readFolder(join(path, 'objects'))).map(({ name }) => name)
  for (const [folder, names, age] of [
    ['', /^fast_import_crash_|^(?:config|shallow)\.lock$|^gc\.pid/, WORK_MS],
    ['objects', /^tmp_obj/, LOCK_MS],
    ['objects/info', /\.lock$|^tmp_/, WORK_MS],
    ['objects/pack', /^\.?tmp[-_]|\.lock$/, WORK_MS],
    ...objects
      .filter(name => /^[0-9a-f]{2}$/.test(name))
      .map(name => [`objects/${name}`, /^tmp_obj/, LOCK_MS] as const),
  ] as const) {
    for (const { name } of await readFolder(join(path, folder))) {
      const suspect = join(path, folder, name)
      if (!(names.test(name) || isTemporary(name) || (await isReleased(suspect)))) continue
      const since = await modified(suspect)
      if (since !== null && (all || Math.abs(Date.now() - since) >= age))
        await rm(suspect, { force: true, recursive: true })
    }
  }
}

/** Returns whether a pack still has fast-import's `.keep`, and so would never be packed again. */
async function isReleased(path: string): Promise<boolean> {
  return path.endsWith('.keep') && !!(await readText(path))?.startsWith('fast-import')
}

async function modified(path: string): Promise<number | null> {
  return (await statOf(path))?.mtimeMs ?? null
}

/** Returns the fault of HEAD or its commit, or null. Changes nothing. */
export async function headFault(path: string): Promise<string | null> {
  if ((await readText(join(path, 'HEAD'))) === null) return 'HEAD is missing'
  const head = await readHead(path).catch(refusalOnly)
  if (head instanceof Refusal) return head.message
  if (head !== null || !(await hasObjects(path))) return null
  return 'HEAD leads to a branch without a commit, though there are commits'
}

/** Returns the first fault that git finds in the repository, checking HEAD first; null for none. */
export async function objectFault(git: GitAt): Promise<string | null> {
  const head = await readHead(git.path)
  if (head === null) return null
  if (await failure(runGit(git, ['cat-file', 'commit', head])))
    return `HEAD points at commit ${head}, which is missing or cannot be read`
  return await failure(runGit(git, ['fsck', '--full', '--no-dangling', '--no-progress']))
}

async function failure(work: Promise<unknown>): Promise<string | null> {
  const result = await work.catch(refusalOnly)
  return result instanceof Refusal ? result.message : null
}

async function hasObjects(path: string): Promise<boolean> {
  const objects = await readFolder(join(path, 'objects'))
  const packs = await readFolder(join(path, 'objects', 'pack'))
  return (
    objects.some(({ name }) => /^[0-9a-f]{2}$/.test(name)) ||
    packs.some(({ name }) => name.endsWith('.pack'))
  )
}
