import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Issue, issue, Refusal, refuse } from '../../../../core/error/error.ts'
import { checkRemote } from '../../../git/push.ts'
import { CONFIG_MAX, parseConfig } from '../config.ts'
import { cratesOfConfig, namedCrates } from '../crate-sources.ts'
import { INDEX_FILE_MAX, readIndexFile } from '../index-file.ts'
import type { CrateSource, ImportRequest, Source, SourceCrate } from '../source.ts'
import { stemOf } from '../tiers.ts'
import { plain, type Web } from '../web.ts'
import { GitBlobs, runQuietGit } from './blobs.ts'

/** A file of the index at HEAD. */
interface GitFile {
  readonly id: string
  readonly size: number
  readonly path: string
}

/** An index in a git repository, here or on the web, read at HEAD as Cargo reads it. */
export async function openGit(request: ImportRequest, web: Web): Promise<Source> {
  const { source } = request
  const isHere = existsSync(source)
  const clone = isHere ? null : await cloneBare(source)
  const close = async () => {
    if (clone !== null) await rm(clone, { recursive: true, force: true })
  }
  try {
    const path =
      clone ?? (existsSync(join(source, 'HEAD')) ? resolve(source) : resolve(source, '.git'))
    const files = await listFiles(path, source)
    const config = await readConfig(path, files, source)
    const crateSource = namedCrates(request, web) ?? cratesOfConfig(config, plain(source), web)
    const crates = files.flatMap(file => (stemOf(file.path) === null ? [] : [file]))
    return {
      kind: 'git',
      description: `the git index ${plain(source)}; .crate files from ${crateSource.description}`,
      ownUrls: await urlsOf(path, isHere ? null : source),
      total: crates.length,
      crates: () => cratesOf(path, crates, crateSource),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function* cratesOf(
  path: string,
  files: readonly GitFile[],
  crateSource: CrateSource,
): AsyncGenerator<SourceCrate> {
  const blobs = new GitBlobs(path)
  try {
    for (const file of files) yield await readCrate(blobs, file, crateSource)
  } finally {
    await blobs.close()
  }
}

async function readCrate(
  blobs: GitBlobs,
  { id, size, path }: GitFile,
  crateSource: CrateSource,
): Promise<SourceCrate> {
  const refused = (reason: Issue): SourceCrate => ({
    name: null,
    versions: [],
    refused: [{ where: path, reasons: [reason] }],
  })
  if (size > INDEX_FILE_MAX)
    return refused(issue('import_too_long', { what: path, max: INDEX_FILE_MAX }))
  const bytes = await blobs.read(id)
  if (!bytes) return refused(issue('import_git_missing', { id }))
  return readIndexFile({ where: path, stem: stemOf(path) ?? '', bytes }, crateSource)
}

/** Regular files only: a link of the tree may name anything. */
async function listFiles(path: string, source: string): Promise<GitFile[]> {
  let listing: string
  try {
    listing = (
      await runQuietGit(path, ['ls-tree', '-r', '-l', '-z', '--full-tree', 'HEAD'])
    ).toString('utf8')
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    throw new Refusal([issue('import_no_head', { source: plain(source) })], { cause: error })
  }
  const files: GitFile[] = []
  for (const line of listing.split('\0')) {
    const match = /^100(?:644|755|664) blob ([0-9a-f]{40,64}) +(\d+|BAD)\t(.*)$/s.exec(line)
    if (match) files.push({ id: match[1] ?? '', size: Number(match[2]) || 0, path: match[3] ?? '' })
  }
  return files
}

async function readConfig(path: string, files: readonly GitFile[], source: string) {
  const file = files.find(one => one.path === 'config.json')
  if (!file) return null
  const where = `config.json of ${plain(source)}`
  if (file.size > CONFIG_MAX) refuse('import_too_long', { what: where, max: CONFIG_MAX })
  return parseConfig(
    (await runQuietGit(path, ['cat-file', 'blob', file.id])).toString('utf8'),
    where,
  )
}

/** The addresses of the index: the one it was cloned from, with and without `.git`. */
async function urlsOf(path: string, cloned: string | null): Promise<string[]> {
  const url = cloned ?? (await originOf(path))
  if (url === null) return []
  const bare = plain(url)
    .replace(/\/+$/, '')
    .replace(/\.git$/, '')
  return [bare, `${bare}.git`]
}

async function originOf(path: string): Promise<string | null> {
  const text = (
    await runQuietGit(path, ['config', '--local', '--default', '', '--get', 'remote.origin.url'])
  ).toString()
  return /^\S+:\S+$/.test(text.trim()) ? text.trim() : null
}

/** Clones without a work tree, the newest commit alone where the server can do that. */
async function cloneBare(url: string): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'plimsoll-import-'))
  try {
    const shallow = await clone(url, join(path, 'index.git'), ['--depth', '1'])
    // A server of plain files cannot give a part of the history.
    const failure = shallow === null ? null : await clone(url, join(path, 'index.git'), [])
    if (failure !== null) refuse('import_git_url', { url: plain(url), detail: failure })
    return join(path, 'index.git')
  } catch (error) {
    await rm(path, { recursive: true, force: true })
    throw error
  }
}

/** Git's complaint; null when it succeeded. Uses the user's configuration for credentials. */
async function clone(
  url: string,
  path: string,
  options: readonly string[],
): Promise<string | null> {
  await rm(path, { recursive: true, force: true })
  const args = [
    'clone',
    '--quiet',
    '--bare',
    '--single-branch',
    '--no-tags',
    ...options,
    '--',
    checkRemote(url),
    path,
  ]
  // Only what an address can mean; `ext::` and the like would run commands.
  const env = {
    ...process.env,
    GIT_TERMINAL_PROMPT: '0',
    GIT_ALLOW_PROTOCOL: 'http:https:ssh:git:file',
    LC_ALL: 'C',
  }
  const child = spawn('git', args, { stdio: ['ignore', 'ignore', 'pipe'], env })
  let complaint = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = `${complaint}${text}`.slice(-1000)
  })
  const code = await new Promise<number | null>((done, reject) => {
    child.once('error', reject)
    child.once('close', done)
  })
  return code === 0
    ? null
    : plain(complaint.trim().replace(/\s*\n\s*/g, ' / ')) || `git ended with ${code}`
}
