import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** How a program runs in a folder root. */
export interface Confinement {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Folders of this machine by their path in the root, writable also in a read-only root. */
  readonly mounts?: Readonly<Record<string, string>>
  /** Makes the root read-only and `/tmp` a new file system in memory. */
  readonly isReadOnly?: boolean
  /** `UID:GID`; without it, root. The user has no capabilities and can get none. */
  readonly user?: string
}

/** The base image: these folders of this machine. */
const SYSTEM = ['bin', 'etc', 'lib', 'lib64', 'sbin', 'usr/bin', 'usr/lib', 'usr/share']
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/**
 * Starts a program as process 1 in its own process and mount namespaces, with `root` as its root
 * folder. Linux and root only. The child is `unshare`, which ends as the program does and passes no
 * signal on: see `insideOf`.
 */
export function enter(
  root: string,
  argv: readonly string[],
  { cwd, env, mounts = {}, isReadOnly = false, user }: Confinement,
): ChildProcess {
  const places = [...SYSTEM, 'dev', 'proc', 'tmp', ...Object.keys(mounts)]
  for (const place of places) mkdirSync(join(root, place), { recursive: true })
  const steps = [
    'mount --bind "$ROOT" "$ROOT"',
    ...SYSTEM.filter(folder => existsSync(`/${folder}`)).map(
      folder => `mount --rbind "/${folder}" "$ROOT/${folder}"`,
    ),
    ...Object.entries(mounts).map(([place, folder]) => `mount --bind "${folder}" "$ROOT/${place}"`),
    isReadOnly ? 'mount -o remount,bind,ro "$ROOT"; mount -t tmpfs tmpfs "$ROOT/tmp"' : ':',
    'mount --rbind /dev "$ROOT/dev"; mount -t proc proc "$ROOT/proc"',
    `exec chroot "$ROOT" ${user === undefined ? '' : limits(user)} env -i -C "$CWD" "$@"`,
  ]
  const variables = Object.entries({ PATH, ...env }).map(([name, value]) => `${name}=${value}`)
  const script = `set -e\n${steps.join('\n')}`
  return spawn(
    'unshare',
    ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', script, 'sh', ...variables, ...argv],
    { env: { PATH: process.env.PATH, ROOT: root, CWD: cwd }, stdio: ['ignore', 'pipe', 'pipe'] },
  )
}

/** Returns the number, on this machine, of the program that `enter` started. */
export function insideOf(child: ChildProcess): number {
  const of = `/proc/${child.pid}/task/${child.pid}/children`
  return Number(readFileSync(of, 'utf8').trim().split(' ')[0])
}

/** This machine's configuration of npm for installs: registry, proxy, certificates and cache. */
export function npmAccess(): Required<Pick<Confinement, 'env' | 'mounts'>> {
  const setting = (name: string) =>
    execFileSync('npm', ['config', 'get', name], { encoding: 'utf8', stdio: 'pipe' }).trim()
  const cache = setting('cache')
  mkdirSync(cache, { recursive: true })
  const passed = Object.entries(process.env).filter(([name]) =>
    /^(https?_proxy|no_proxy|node_extra_ca_certs)$/i.test(name),
  )
  const env = Object.fromEntries(passed.map(([name, value]) => [name, value ?? '']))
  const registry = setting('registry')
  return {
    env: { ...env, npm_config_registry: registry, npm_config_cache: '/npm' },
    mounts: { npm: cache },
  }
}

function limits(user: string): string {
  const [uid, gid] = user.split(':')
  return `setpriv --reuid ${uid} --regid ${gid} --clear-groups --no-new-privs --bounding-set -all`
}
