import { type Command, CommanderError } from 'commander'
import { createProgram } from '../../daemon/program.ts'
import { Exit } from '../../generator/cli/console/io.ts'
import { terminalIo } from '../../generator/cli/console/terminal.ts'
import { openRegistry } from '../../generator/open.ts'
import type { Program } from '../../generator/projections/context.ts'
import type { Cleanup } from './cleanup.ts'
import type { Run } from './command.ts'
import { gate } from './gate.ts'
import { hostEnvironment } from './plimsoll.ts'
import { until } from './until.ts'

/** A command's folder and input, and the receiver of each printed text. */
export interface Manner {
  readonly cwd?: string
  readonly stdin?: string
  readonly onPrinted?: (text: string) => void
  /** Resolves when somebody presses ^C. */
  readonly stopped?: Promise<string> | undefined
  /** Another version of the program. */
  readonly version?: Program
}

/**
 * Runs a command of `plimsoll` in this process, for tests whose subject is not the process: this is
 * faster. One at a time, if paths are relative to `cwd`.
 */
export async function plimsollHere(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  {
    cwd,
    stdin = '',
    onPrinted = () => undefined,
    stopped = new Promise(() => undefined),
    version,
  }: Manner = {},
): Promise<Run> {
  const output = { stdout: '', stderr: '' }
  const stream = (name: keyof typeof output) => ({
    write(text: string) {
      output[name] += text
      onPrinted(text)
    },
  })
  const [stdout, stderr] = [stream('stdout'), stream('stderr')]
  const terminal = terminalIo({ stdout, stderr, env: { ...hostEnvironment(), ...env } })
  const io = { ...terminal, ...(version && { program: version }) }
  const before = process.cwd()
  let code = 0
  try {
    if (cwd !== undefined) process.chdir(cwd)
    const program = await createProgram(io, args, {
      openRegistry,
      readInput: async () => stdin,
      askSecret: null,
      stopped: () => stopped,
      isRead: () => true,
    })
    redirect(program, stdout, stderr)
    await program.parseAsync([...args], { from: 'user' })
  } catch (error) {
    if (error instanceof Exit) code = error.code
    else if (error instanceof CommanderError) code = error.exitCode === 0 ? 0 : 2
    else throw error
  } finally {
    if (cwd !== undefined) process.chdir(before)
  }
  return { code, ...output }
}

/** A `plimsoll serve` in this process. */
export interface DaemonHere {
  readonly url: string
  /** Its output so far. */
  readonly log: () => string
  /** Stops it now and not at the end of the test. */
  readonly stop: () => void
}

/**
 * Serves the registry folder from this process, by default on a free port, for tests whose subject is not the
 * process: a daemon of its own takes a second of processor time to start and to warm up. It ends
 * after the test, with exit code 0.
 */
export async function serveHere(
  cleanup: Cleanup,
  folder: string,
  env: NodeJS.ProcessEnv = {},
  listen = '127.0.0.1:0',
): Promise<DaemonHere> {
  let [printed, hasEnded] = ['', false]
  const { opened: stopped, open: stop } = gate<string>()
  const onPrinted = (text: string) => {
    printed += text
  }
  const args = ['serve', '--dir', folder, '--listen', listen]
  const ended = plimsollHere(args, env, { onPrinted, stopped }).finally(() => {
    hasEnded = true
  })
  ended.catch(() => undefined)
  const stopNow = () => stop('the test')
  cleanup.add(async () => {
    stopNow()
    const { code } = await ended
    if (code !== 0) throw new Error(`plimsoll serve ended with ${code}\n${printed}`)
  })
  const url = () => /^listening on (https?:\/\/\S+)$/m.exec(printed)?.[1]
  await until(
    () => url() !== undefined || hasEnded,
    () => `plimsoll serve is not ready\n${printed}`,
  )
  return { url: (url() ?? '').replace(/\/$/, ''), log: () => printed, stop: stopNow }
}

type Stream = { write(text: string): void }

/** Has help and errors of usage printed where everything else is. */
function redirect(command: Command, stdout: Stream, stderr: Stream): void {
  command.configureOutput({
    writeOut: text => stdout.write(text),
    writeErr: text => stderr.write(text),
    getOutHasColors: () => false,
    getErrHasColors: () => false,
  })
  for (const child of command.commands) redirect(child, stdout, stderr)
}
