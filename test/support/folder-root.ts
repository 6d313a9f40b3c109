import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** How a program runs in a folder root: as a container engine runs one in a read-only image. */
export interface Confinement {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Folders of this machine by their path in the root, where writes go. */
  readonly mounts: Readonly<Record<string, string>>
  /** `UID:GID`. The user has no capabilities and can get none. */
  readonly user: string
}

/** What engines set where an image says nothing. */
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/**
 * Starts a program as process 1 in its own process and mount namespaces, with `root` as its root
 * folder, read-only but for `mounts` and an empty `/tmp`. Nothing of this machine's system is in it.
 * Linux and root only. The child is `unshare`, which ends as the program does and passes no
 * signal on: see `insideOf`.
 */
export function enter(
  root: string,
  argv: readonly string[],
  { cwd, env, mounts, user }: Confinement,
): ChildProcess {
  const places = ['dev', 'proc', 'tmp', ...Object.keys(mounts)]
  for (const place of places) mkdirSync(join(root, place), { recursive: true })
  const [uid = '', gid = ''] = user.split(':')
  const steps = [
    'set -e; mount --bind "$ROOT" "$ROOT"',
    ...Object.entries(mounts).map(([place, folder]) => `mount --bind "${folder}" "$ROOT/${place}"`),
    'mount -o remount,bind,ro "$ROOT"; mount -t tmpfs tmpfs "$ROOT/tmp"',
    'mount --rbind /dev "$ROOT/dev"; mount -t proc proc "$ROOT/proc"',
    // `unshare` is found by the PATH of the image, of which this machine has the folders, too.
    `exec setpriv --clear-groups --no-new-privs env -i "$@"`,
  ]
  const variables = Object.entries({ PATH, ...env }).map(([name, value]) => `${name}=${value}`)
  const namespaces = ['--mount', '--pid', '--fork', '--kill-child']
  const change = ['unshare', `--root=${root}`, `--wd=${cwd}`, '--setgid', gid, '--setuid', uid]
  return spawn(
    'unshare',
    [...namespaces, 'sh', '-c', steps.join('\n'), 'sh', ...variables, ...change, ...argv],
    { env: { PATH: process.env.PATH, ROOT: root }, stdio: ['ignore', 'pipe', 'pipe'] },
  )
}

/** Returns the number, on this machine, of the program that `enter` started. */
export function insideOf(child: ChildProcess): number {
  const of = `/proc/${child.pid}/task/${child.pid}/children`
  return Number(readFileSync(of, 'utf8').trim().split(' ')[0])
}
