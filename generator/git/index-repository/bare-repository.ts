import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { refuse } from '../../../core/error/error.ts'
import {
  fileFacts,
  isTemporary,
  makeFolder,
  readText,
  writeAtomically,
  writeDurably,
} from '../../store/durable-file.ts'

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

/** Makes `path` a bare repository unless it is one, without git's templates, hooks and defaults. */
export async function ensureBare(path: string): Promise<void> {
  await makeFolder(path)
  const names = await readdir(path)
  if (names.includes('HEAD') && names.includes('objects') && names.includes('refs'))
    return await checkFormat(path)
  // A kill during creation leaves some of these; HEAD comes last, so the folder is no repository
  // before.
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
  if (/^\s*refstorage\s*=\s*reftable/im.test(config ?? ''))
    refuse('git_index_format', { path, format: 'reftables' })
  await headRef(path)
}

/** The branch HEAD names. */
export async function headRef(path: string): Promise<string> {
  const text = (await readText(join(path, 'HEAD'))) ?? ''
  const ref = /^ref: (refs\/heads\/[A-Za-z0-9][\w./-]*)\n?$/.exec(text)?.[1]
  if (!ref || /\.\.|\/\.|\.lock$/.test(ref))
    refuse('git_index_format', { path, format: 'a HEAD that names no branch' })
  return ref
}

/** The commit of HEAD, read as git reads it: the loose ref first, then packed-refs. */
export async function readHead(path: string): Promise<string | null> {
  const ref = await headRef(path)
  const loose = (await readText(join(path, ref)))?.trim()
  if (loose && /^[0-9a-f]{40}$/.test(loose)) return loose
  const packed = (await readText(join(path, 'packed-refs'))) ?? ''
  for (const line of packed.split('\n')) if (line.endsWith(` ${ref}`)) return line.slice(0, 40)
  return null
}

/** The id git gives a file's bytes. */
export function blobId(bytes: Uint8Array): string {
  return objectId('blob', bytes)
}

/** The id git gives an object. */
export function objectId(kind: 'blob' | 'tree' | 'commit', bytes: Uint8Array): string {
  return createHash('sha1').update(`${kind} ${bytes.length}\0`).update(bytes).digest('hex')
}

/** Writes what `git update-server-info` writes, for plain file servers; only where it changes. */
export async function updateServerInfo(path: string): Promise<void> {
  const [ref, id] = [await headRef(path), await readHead(path)]
  const packs = (await readdir(join(path, 'objects', 'pack'))).filter(name =>
    /^pack-[0-9a-f]{40}\.pack$/.test(name),
  )
  // A pack is listed once its index is there, which git renames into place last.
  const listed: string[] = []
  for (const pack of packs.sort())
    if (await fileFacts(join(path, 'objects', 'pack', pack.replace(/pack$/, 'idx'))))
      listed.push(`P ${pack}\n`)
  await replaceDerived(join(path, 'objects', 'info', 'packs'), `${listed.join('')}\n`)
  await replaceDerived(join(path, 'info', 'refs'), id ? `${id}\t${ref}\n` : '')
}

/** Not flushed: every start compares it again. */
async function replaceDerived(file: string, text: string): Promise<void> {
  if ((await readText(file)) !== text) await writeAtomically(file, Buffer.from(text))
}
