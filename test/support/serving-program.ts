import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Cleanup } from './cleanup.ts'
import { hostEnvironment, root } from './plimsoll.ts'
import { until } from './until.ts'

/** The command that serves a registry, without npm around it. */
export const SERVE = [process.execPath, join(root, 'dist', 'daemon', 'cli.js'), 'serve']

/** A daemon that a test watches as a process: its output, its signals, its end. */
export interface ServingProgram {
  readonly child: ChildProcess
  readonly url: string
  /** The token that a first start prints. */
  readonly token: string
  /** Its output so far. */
  readonly said: { readonly out: string; readonly err: string }
  /** Resolves with the exit code or signal when nobody writes to its output any more. */
  readonly ended: Promise<number | NodeJS.Signals>
  /** Sends a signal to it alone, or to its process group if it was started detached. */
  kill(signal: NodeJS.Signals, whom?: 'alone' | 'group'): void
}

/** Serves a registry folder by a command that is given in `cwd`; who is left running is killed with its group. */
export async function serveBy(
  cleanup: Cleanup,
  command: readonly string[],
  dir: string,
  env: NodeJS.ProcessEnv = {},
  cwd = root,
): Promise<ServingProgram> {
  const [program = '', ...args] = command
  const settings = { PLIMSOLL_DIR: dir, PLIMSOLL_LISTEN: '127.0.0.1:0', ...env }
  const child = spawn(program, args, {
    cwd,
    env: { ...hostEnvironment(), ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const said = { out: '', err: '' }
  child.stdout.on('data', chunk => {
    said.out += chunk
  })
  child.stderr.on('data', chunk => {
    said.err += chunk
  })
  const ended = once(child, 'close').then(([code, signal]) => code ?? signal)
  const kill: ServingProgram['kill'] = (signal, whom = 'alone') => {
    const { pid = 0 } = child
    try {
      process.kill(whom === 'group' ? -pid : pid, signal)
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, 'ESRCH')
    }
  }
  cleanup.add(async () => {
    kill('SIGKILL', 'group')
    await ended
  })
  const address = () => /^listening on (http\S+?)\s*$/m.exec(said.out)?.[1]
  await until(() => address() !== undefined || child.exitCode !== null, 'it does not listen')
  const url = address() ?? assert.fail(`it does not listen\n${said.out}${said.err}`)
  const token = /plim_\w{38}/.exec(said.out)?.[0] ?? ''
  return { child, url, token, said, ended, kill }
}
