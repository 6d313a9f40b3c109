import { type Command, CommanderError } from 'commander'
import { createProgram } from '../../daemon/program.ts'
import { Exit } from '../../generator/cli/console/io.ts'
import { terminalIo } from '../../generator/cli/console/terminal.ts'
import type { Run } from './command.ts'
import { hostEnvironment } from './plimsoll.ts'

/** A command's folder and input, and the receiver of each printed text. */
export interface Manner {
  readonly cwd?: string
  readonly stdin?: string
  readonly onPrinted?: () => void
}

/**
 * Runs a command of `plimsoll` in this process, for tests whose subject is not the process: this is
 * faster. One at a time, if paths are relative to `cwd`.
 */
export async function plimsollHere(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  { cwd, stdin = '', onPrinted = () => undefined }: Manner = {},
): Promise<Run> {
  const output = { stdout: '', stderr: '' }
  const stream = (name: keyof typeof output) => ({
    write(text: string) {
      output[name] += text
      onPrinted()
    },
  })
  const [stdout, stderr] = [stream('stdout'), stream('stderr')]
  const io = terminalIo({ stdout, stderr, env: { ...hostEnvironment(), ...env } })
  const before = process.cwd()
  let code = 0
  try {
    if (cwd !== undefined) process.chdir(cwd)
    const program = await createProgram(io, args, {
      readInput: async () => stdin,
      askSecret: null,
      stopped: () => new Promise<string>(() => undefined),
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
