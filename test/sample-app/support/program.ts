import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type Run, run } from '../../support/command.ts'

const CLI = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..', 'sample-app', 'cli.js')

/** The sample application in its own process. */
export interface Program {
  readonly process: ChildProcess
  readonly url: string
  readonly stderr: () => string
  /** Ends it the way a service manager does; the exit code. */
  stop(): Promise<number | null>
}

/** Starts the program on a free port and waits until it listens. */
export async function startProgram(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<Program> {
  const child = spawn(process.execPath, [CLI, '--port', '0', ...args], {
    env: { ...process.env, ...env },
  })
  let stderr = ''
  child.stderr.on('data', chunk => (stderr += chunk))
  const exited = once(child, 'exit').then(([code]) => code as number | null)
  const line = await Promise.race([
    once(createInterface(child.stdout), 'line').then(([first]) => String(first)),
    exited.then(code =>
      Promise.reject(new Error(`ended with ${code} before it listened: ${stderr}`)),
    ),
  ])
  const stop = () => {
    child.kill('SIGTERM')
    return exited
  }
  return { process: child, url: line.replace('listening on ', ''), stderr: () => stderr, stop }
}

/** Runs the program to its end. */
export function runProgram(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  stdin = '',
): Promise<Run> {
  const options = { cwd: process.cwd(), env: { ...process.env, ...env }, stdin }
  return run(process.execPath, [CLI, ...args], options)
}
