import {
  type ChildProcess,
  type ChildProcessWithoutNullStreams,
  execFile,
  type SpawnOptionsWithoutStdio,
  spawn,
} from 'node:child_process'
import { devNull } from 'node:os'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { refuse } from '../../../core/error/error.ts'

/** Settings of every git that works on the index, whatever the user's configuration says. */
const SETTINGS: Readonly<Record<string, string>> = {
  // Flush packs, their indexes and refs; git's default does not (git-config, core.fsync; git ≥
  // 2.36).
  'core.fsync': 'all',
  // One pack for each commit: two flushes instead of five. maintain() combines the packs.
  'fastimport.unpackLimit': '0',
  // One thread: packing and clones must not starve the daemon's other work.
  'pack.threads': '1',
  'gc.auto': '0',
  'maintenance.auto': 'false',
}

/** An environment for git in which no variable and no file of the user's changes what it does. */
export function cleanEnvironment(path: string): NodeJS.ProcessEnv {
  const environment: NodeJS.ProcessEnv = {
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: devNull,
    // Nothing is fetched: a partial clone could run a command from its own configuration.
    GIT_ALLOW_PROTOCOL: '',
    GIT_NO_LAZY_FETCH: '1',
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

/** The executable, and the repository that it works on. */
export interface GitAt {
  readonly command: string
  readonly path: string
}

/**
 * Starts git on the repository, in its own clean environment unless `options` have another; the
 * caller reads, writes and waits with `finish`.
 */
export function startGit(
  git: GitAt,
  args: readonly string[],
  options: SpawnOptionsWithoutStdio = {},
): ChildProcessWithoutNullStreams {
  const child = spawn(git.command, ['--git-dir', git.path, ...args], {
    env: cleanEnvironment(git.path),
    ...options,
  })
  // Git may end before it has read everything; its exit code tells, the broken pipe adds nothing.
  child.stdin.on('error', () => {})
  return child
}

/** Waits for git's end: null, or its own words when it failed. */
export async function complaintOf(
  child: ChildProcess & { readonly stderr: Readable },
): Promise<string | null> {
  let complaint = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = `${complaint}${text}`.slice(-2000)
  })
  const code = await new Promise<number | string>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (status, signal) => resolve(status ?? signal ?? 'no status'))
  })
  return code === 0
    ? null
    : complaint.trim().replace(/\s*\n\s*/g, ' / ') || `git ended with ${code}`
}

/** Waits for git's end and refuses with its own words when it failed. */
export async function finish(
  child: ChildProcessWithoutNullStreams,
  command: string,
): Promise<void> {
  const detail = await complaintOf(child)
  if (detail !== null) refuse('git_failed', { command, detail })
}

/** Runs git to its end, or to `signal`, and gives its standard output. */
export async function runGit(
  git: GitAt,
  args: readonly string[],
  signal?: AbortSignal,
): Promise<Buffer> {
  const child = startGit(git, args, { signal })
  child.stdin.end()
  const output = buffer(child.stdout)
  output.catch(() => {})
  await finish(child, args[0] ?? '')
  return await output
}

/** The version of the executable; null when it cannot be run at all. */
export async function gitVersion(command: string): Promise<string | null> {
  const options = { env: cleanEnvironment('') }
  const said = await promisify(execFile)(command, ['version'], options).catch(() => null)
  return /git version (\d+\.\d+(?:\.\d+)?)/.exec(said?.stdout ?? '')?.[1] ?? null
}
