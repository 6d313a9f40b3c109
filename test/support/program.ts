import { CommanderError } from 'commander'
import { createProgram } from '../../daemon/program.ts'
import { terminalIo } from '../../generator/cli/console/terminal.ts'
import { Exit } from '../../generator/cli/io.ts'
import type { Run } from './command.ts'
import { hostEnvironment } from './plimsoll.ts'

const ends = {
  readInput: async () => '',
  askSecret: null,
  stopped: () => new Promise<string>(() => undefined),
  isRead: () => true,
}

/**
 * Runs a command of `plimsoll` in this process, for tests whose subject is not the process: to
 * start one takes longer than most commands. Paths are absolute. `onPrinted` is told of each text.
 */
export async function plimsollHere(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  onPrinted: () => void = () => undefined,
): Promise<Run> {
  const said = { stdout: '', stderr: '' }
  const stream = (name: keyof typeof said) => ({
    write(text: string) {
      said[name] += text
      onPrinted()
    },
  })
  const io = terminalIo({
    stdout: stream('stdout'),
    stderr: stream('stderr'),
    env: { ...hostEnvironment(), ...env },
  })
  let code = 0
  try {
    const program = await createProgram(io, args, ends)
    await program.parseAsync([...args], { from: 'user' })
  } catch (error) {
    if (error instanceof Exit) code = error.code
    else if (error instanceof CommanderError) code = 2
    else throw error
  }
  return { code, ...said }
}
