import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
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

const devNull = process.platform === 'win32' ? 'NUL' : '/dev/null'

export interface GitAt {
  readonly command: string
  readonly path: string
}

/** Starts git on the repository; the caller reads, writes and waits with `finish`. */
export function startGit(
  git: GitAt,
  args: readonly string[],
  signal?: AbortSignal,
): ChildProcessWithoutNullStreams {
  const env = cleanEnvironment(git.path)
  const child = spawn(
    git.command,
    ['--git-dir', git.path, ...args],
    signal ? { env, signal } : { env },
  )
  // Git may end before it has read everything; its exit code tells, the broken pipe adds nothing.
  child.stdin.on('error', () => {})
  return child
}

/** Waits for git's end and refuses with its own words when it failed. */
export async function finish(child: ChildProcessWithoutNullStreams, name: string): Promise<void> {
  let complaint = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = `${complaint}${text}`.slice(-2000)
  })
  const code = await new Promise<number | string>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (status, signal) => resolve(status ?? signal ?? 'no status'))
  })
  if (code !== 0)
    refuse('git_failed', {
      command: name,
      detail: complaint.trim().replace(/\s*\n\s*/g, ' / ') || `${code}`,
    })
}

/** Runs git to its end, or to `signal`, and gives its standard output. */
export async function runGit(
  git: GitAt,
  args: readonly string[],
  signal?: AbortSignal,
): Promise<Buffer> {
  const child = startGit(git, args, signal)
  child.stdin.end()
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  await finish(child, args[0] ?? '')
  return Buffer.concat(chunks)
}

/** The output of git, also when it fails: for commands that report faults by failing. */
export async function captureGit(git: GitAt, args: readonly string[]): Promise<string> {
  const child = startGit(git, args)
  child.stdin.end()
  child.stderr.resume()
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  await once(child, 'close')
  return said
}

/** The version of the executable; null when it cannot be run at all. */
export async function gitVersion(command: string): Promise<string | null> {
  const child = spawn(command, ['version'], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: cleanEnvironment(''),
  })
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  const started = await new Promise<boolean>(resolve => {
    child.once('error', () => resolve(false))
    child.once('close', () => resolve(true))
  })
  return started
    ? (/git version (\d+\.\d+(?:\.\d+)?)/.exec(Buffer.concat(chunks).toString())?.[1] ?? null)
    : null
}

/** Geometric repacking with a multi-pack index begins here (git 2.34 release notes). */
export function isRecent(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > 2 || (major === 2 && minor >= 34)
}
