import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { issue, Refusal, refusalOnly, refuse } from '../../../core/error/error.ts'
import { ByteReader } from '../../../core/tarball/bytes.ts'
import { CONFIG_MAX, parseDl } from '../../../core/urls/index-config.ts'
import { cloneBare } from '../../git/index-repository/clone.ts'
import {
  finish,
  gitFolder,
  requireOwnFiles,
  runGit,
  startGit,
} from '../../git/index-repository/git-process.ts'
import type { Web } from '../../web/web.ts'
import { plain } from '../../web/web-url.ts'
import { cratesOfDl, namedCrates } from './crate-sources.ts'
import { INDEX_FILE_MAX, readIndexFile, stemOf, tooLong } from './index-file.ts'
import { type ImportRequest, type OpenedSource, refusedCrate } from './source.ts'

interface GitFile {
  readonly id: string
  /** Null for a file whose object is missing from the repository. */
  readonly size: number | null
  readonly path: string
}

/** Opens an index in a git repository, local or remote, and reads it at HEAD as Cargo does. */
export async function openGit(request: ImportRequest, web: Web): Promise<OpenedSource> {
  const { source } = request
  const isHere = existsSync(source)
  const bare = gitFolder(resolve(source))
  if (isHere) await requireOwnFiles(bare)
  const clone = isHere ? null : await cloneBare(source)
  const close = async () => {
    if (clone !== null) await rm(clone, { recursive: true, force: true })
  }
  try {
    const path = clone ?? bare
    const files = await listFiles(path, source)
    const dl = await readDl(path, files, source)
    const crates = namedCrates(request, web) ?? cratesOfDl(dl, plain(source), web)
    const indexFiles = files.filter(file => stemOf(file.path) !== null)
    return {
      description: `the git index ${plain(source)}; .crate files from ${crates.description}`,
      ownUrls: await urlsOf(path, isHere ? null : source),
      total: indexFiles.length,
      async *crates() {
        const blobs = openBlobs(path)
        try {
          for (const { id, size, path: where } of indexFiles) {
            const stem = stemOf(where) ?? ''
            const isLong = size !== null && size > INDEX_FILE_MAX
            const bytes = size === null || isLong ? null : await blobs.read(id, size)
            if (bytes) yield readIndexFile({ where, stem, bytes }, crates)
            else if (isLong) yield tooLong(where)
            else yield refusedCrate(where, [issue('import_git_missing', { id })])
          }
        } finally {
          await blobs.close()
        }
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Lists regular files only: a link may point anywhere. */
async function listFiles(path: string, source: string): Promise<GitFile[]> {
  const args = ['ls-tree', '-r', '-l', '-z', '--full-tree', 'HEAD']
  const listing = await git(path, ...args).catch(refusalOnly)
  if (listing instanceof Refusal && !listing.has('git_failed')) throw listing
  if (listing instanceof Refusal)
    throw new Refusal([issue('import_no_head', { source: plain(source) })], { cause: listing })
  const files: GitFile[] = []
  for (const line of listing.split('\0')) {
    const match = /^100(?:644|755|664) blob ([0-9a-f]{40,64}) +(\d+|BAD)\t(.*)$/s.exec(line)
    if (!match) continue
    const [, id = '', size, file = ''] = match
    files.push({ id, size: size === 'BAD' ? null : Number(size), path: file })
  }
  return files
}

async function readDl(
  path: string,
  files: readonly GitFile[],
  source: string,
): Promise<string | null> {
  const file = files.find(file => file.path === 'config.json')
  if (!file) return null
  const where = `config.json of ${plain(source)}`
  if ((file.size ?? 0) > CONFIG_MAX) refuse('import_too_long', { what: where, max: CONFIG_MAX })
  return parseDl(await git(path, 'cat-file', 'blob', file.id), where)
}

/** Returns the URLs of the index: the one it was cloned from, with and without `.git`. */
async function urlsOf(path: string, cloned: string | null): Promise<string[]> {
  const origin = ['config', '--local', '--default', '', '--get', 'remote.origin.url']
  const url = cloned ?? (await git(path, ...origin)).trim()
  if (!/^\S+:\S+$/.test(url)) return []
  const bare = plain(url)
    .replace(/\/+$/, '')
    .replace(/\.git$/, '')
  return [bare, `${bare}.git`]
}

/** Returns git's output about a repository, which is untrusted. */
async function git(path: string, ...args: string[]): Promise<string> {
  return (await runGit({ command: 'git', path }, args)).toString('utf8')
}

function openBlobs(path: string) {
  const child = startGit({ command: 'git', path }, ['cat-file', '--batch'])
  const end = finish(child, 'cat-file')
  // Handled in `close`.
  end.catch(() => undefined)
  const output = new ByteReader(child.stdout, Number.POSITIVE_INFINITY)
  const take = async (length: number): Promise<Uint8Array> => {
    const bytes = await output.take(length).catch(refusalOnly)
    if (bytes && !(bytes instanceof Refusal)) return bytes
    await end
    return refuse('git_failed', { command: 'cat-file', detail: 'it ended early' })
  }
  return {
    /** Returns the bytes of a blob; null when its object is missing. */
    async read(id: string, size: number): Promise<Uint8Array | null> {
      child.stdin.write(`${id}\n`)
      const missing = `${id} missing\n`
      const header = `${id} blob ${size}\n`
      // No answer is shorter than that.
      const start = await take(missing.length)
      if (Buffer.from(start).equals(Buffer.from(missing))) return null
      const rest = await take(header.length + size + 1 - start.length)
      return Buffer.concat([start, rest]).subarray(header.length, -1)
    },
    async close(): Promise<void> {
      child.stdin.end()
      await end
    },
  }
}
