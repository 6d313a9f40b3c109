import {
  type ChildProcess,
  type ChildProcessWithoutNullStreams,
  execFile,
  type SpawnOptionsWithoutStdio,
  spawn,
} from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { opendir } from 'node:fs/promises'
import { devNull } from 'node:os'
import { join, relative } from 'node:path'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { collectBytes } from '../../../core/async/collect-bytes.ts'
import { refuse } from '../../../core/error/error.ts'
import { withoutCredentials } from '../../../core/urls/urls.ts'
import { readText, statOf } from '../../places/disk/files.ts'

/** The settings of every git process for the index, regardless of the user's configuration. */
const SETTINGS: Readonly<Record<string, string>> = {
  // Sync packs, their indexes, and refs; git's default does not (git-config, core.fsync; git ≥
  // 2.36).
  'core.fsync': 'all',
  // One pack for each commit: two syncs instead of five. maintain() combines the packs.
  'fastimport.unpackLimit': '0',
  // One thread: packing and clones must not starve the daemon's other work.
  'pack.threads': '1',
  'gc.auto': '0',
  'maintenance.auto': 'false',
  // A repository may be a stranger's.
  'core.hooksPath': devNull,
  'core.fsmonitor': 'false',
}

/** Git ends when it wants more memory at once: a stranger's small object may unpack to anything. */
export const ALLOC_LIMIT = { GIT_ALLOC_LIMIT: '1g' } as const

/** Returns an environment in which none of the user's variables and files change git's behavior. */
export function cleanEnvironment(path: string): NodeJS.ProcessEnv {
  const environment: NodeJS.ProcessEnv = {
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: devNull,
    // Nothing is fetched: a partial clone could run a command from its own configuration.
    GIT_ALLOW_PROTOCOL: '',
    GIT_NO_LAZY_FETCH: '1',
    ...ALLOC_LIMIT,
  }
  for (const name of ['PATH', 'HOME', 'TMPDIR', 'SystemRoot', 'TEMP'])
    if (process.env[name] !== undefined) environment[name] = process.env[name]
  // The folder may belong to another user, as in a container with a mounted volume.
  const all = Object.entries({ ...SETTINGS, 'safe.directory': path })
  environment.GIT_CONFIG_COUNT = String(all.length)
  for (const [index, [key, value]] of all.entries()) {
    environment[`GIT_CONFIG_KEY_${index}`] = key
    environment[`GIT_CONFIG_VALUE_${index}`] = value
  }
  return environment
}

/** The git executable and its repository. */
export interface GitAt {
  readonly command: string
  readonly path: string
}

/** Starts git on the repository, in a clean environment or that of `options`; see `finish`. */
export function startGit(
  git: GitAt,
  args: readonly string[],
  options: SpawnOptionsWithoutStdio = {},
): ChildProcessWithoutNullStreams {
  const child = spawn(git.command, ['--git-dir', git.path, ...args], {
    env: cleanEnvironment(git.path),
    ...options,
  })
  // Git may end before it has read everything; its exit code decides, not the broken pipe.
  child.stdin.on('error', () => {})
  return child
}

/** Waits for git to end; returns null, or its error message when it failed. */
export async function complaintOf(
  child: ChildProcess & { readonly stderr: Readable },
): Promise<string | null> {
  let complaint = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = `${complaint}${text}`.slice(-2000)
  })
  const [status, signal] = await once(child, 'close')
  if (status === 0) return null
  return complaint.trim().replace(/\s*\n\s*/g, ' / ') || `git ended with ${status ?? signal}`
}

/** Waits for git to end; refuses with its error message when it failed. */
export async function finish(
  child: ChildProcessWithoutNullStreams,
  command: string,
): Promise<void> {
  const detail = await complaintOf(child)
  if (detail !== null) refuse('git_failed', { command, detail })
}

/** The most bytes of a file that git reads whole, such as `packed-refs`. */
const FILE_MAX = 64 * 1024 * 1024

/** Files that make git read another repository, or its objects. */
const ELSEWHERE = ['commondir', 'gitdir', join('objects', 'info', 'alternates')]

/** Returns the repository in a folder, which is itself bare or has a work tree. */
export function gitFolder(path: string): string {
  return existsSync(join(path, 'HEAD')) ? path : join(path, '.git')
}

/**
 * Refuses a stranger's repository with a pipe or a device in it, also by a link, for which git
 * would wait, and one that has git read anything outside of it. Passes a path with nothing there.
 */
export async function requireOwnFiles(path: string): Promise<void> {
  const refuseElsewhere = (what: string) => refuse('git_elsewhere', { path: join(path, what) })
  const there = await statOf(path)
  if (there?.isFile()) refuseElsewhere('')
  if (!there) return
  for await (const entry of await opendir(path, { recursive: true })) {
    const file = join(entry.parentPath, entry.name)
    const kind = await statOf(file)
    if (kind && !kind.isFile() && !kind.isDirectory()) refuse('file_special', { path: file })
    if (entry.isSymbolicLink() && kind?.isDirectory()) refuseElsewhere(relative(path, file))
    if (kind && kind.size > FILE_MAX && !/\bobjects\b/.test(file.slice(path.length)))
      refuse('import_too_long', { what: file, max: FILE_MAX })
  }
  for (const name of ELSEWHERE) if (await statOf(join(path, name))) refuseElsewhere(name)
  for (const name of ['config', 'config.worktree'])
    if (/\[\s*include/i.test((await readText(join(path, name))) ?? '')) refuseElsewhere(name)
}

/** The most bytes that git may print: the files of an index like that of crates.io fill a half. */
const OUTPUT_MAX = 32 * 1024 * 1024

/**
 * Runs git until it ends or `signal` aborts it; returns its standard output. Refuses more than
 * 32 MiB of it, which a small repository can mean that has a folder in itself many times.
 */
export async function runGit(
  git: GitAt,
  args: readonly string[],
  signal?: AbortSignal,
): Promise<Buffer> {
  const child = startGit(git, args, { signal })
  child.stdin.end()
  const [command = ''] = args
  const ending = finish(child, command)
  ending.catch(() => {})
  const output = await collectBytes(child.stdout, OUTPUT_MAX)
  const what = `the output of \`git ${command}\` for ${git.path}`
  if (output === null) refuse('import_too_long', { what, max: OUTPUT_MAX })
  await ending
  return output
}

/** Returns the version of the executable; null when it cannot be run. */
export async function gitVersion(command: string): Promise<string | null> {
  const options = { env: cleanEnvironment('') }
  const output = await promisify(execFile)(command, ['version'], options).catch(() => null)
  return /git version (\d+\.\d+(?:\.\d+)?)/.exec(output?.stdout ?? '')?.[1] ?? null
}

export interface UploadPackOptions {
  readonly repositoryPath: string
  readonly gitCommand: string
  /** The protocol version that the client requests; 0 when it requests none (gitprotocol-v2). */
  readonly protocol: 0 | 1 | 2
  /** Whether to run the first half of the exchange, which lists refs or capabilities. */
  readonly advertise: boolean
  readonly input: Uint8Array
}

/** One stateless response of `git upload-pack`. Its command line contains nothing from a client. */
export class UploadPack {
  readonly #child: ChildProcessWithoutNullStreams
  readonly #end: Promise<void>

  constructor(options: UploadPackOptions) {
    const { repositoryPath: path, gitCommand: command, protocol, advertise, input } = options
    const mode = advertise ? ['--http-backend-info-refs'] : []
    const env = cleanEnvironment(path)
    if (protocol > 0) env.GIT_PROTOCOL = `version=${protocol}`
    const args = ['upload-pack', '--strict', '--stateless-rpc', ...mode, '--', path]
    // Git stops reading when it has seen enough; its exit code shows whether that was a failure.
    this.#child = startGit({ command, path }, args, { env })
    this.#end = finish(this.#child, 'upload-pack')
    // Awaited at the end of `output`, which is never reached when the client disconnects.
    this.#end.catch(() => {})
    this.#child.stdin.end(input)
  }

  /** Yields git's response; throws when git fails, so that no partial response looks complete. */
  async *output(): AsyncGenerator<Uint8Array> {
    try {
      yield* this.#child.stdout
      await this.#end
    } finally {
      this.stop()
    }
  }

  /** Ends git, which on SIGTERM also ends the packer that it has started. */
  stop(): void {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    this.#child.kill('SIGTERM')
    const last = setTimeout(() => this.#child.kill('SIGKILL'), 2_000)
    last.unref()
    this.#child.once('exit', () => clearTimeout(last))
  }
}

/** Refuses a remote that git would read as an option or command instead of a URL or path. */
export function checkRemote(remote: string): string {
  if (
    !remote ||
    remote.startsWith('-') ||
    /[\s\0]/.test(remote) ||
    /^[A-Za-z][\w+.-]*::/.test(remote)
  )
    refuse('git_remote_invalid', { remote: withoutCredentials(remote) })
  return remote
}
