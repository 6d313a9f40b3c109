// A later version of `plimsoll`, for tests of several versions on one database: `node
// newer-program.js newer|newest WORDS…`
import { CommanderError } from 'commander'
import { createProgram } from '../../daemon/program.ts'
import { Exit } from '../../generator/cli/console/io.ts'
import { terminalIo } from '../../generator/cli/console/terminal.ts'
import { openRegistry } from '../../generator/open.ts'
import { NEWER, NEWEST } from './versions.ts'

const [which, ...words] = process.argv.slice(2)
const io = { ...terminalIo(process), program: which === 'newest' ? NEWEST : NEWER }
const stopped = () => new Promise<string>(resolve => process.once('SIGTERM', resolve))
const program = await createProgram(io, words, {
  openRegistry,
  readInput: async () => '',
  askSecret: null,
  stopped,
  isRead: () => true,
})
try {
  await program.parseAsync(words, { from: 'user' })
} catch (error) {
  if (error instanceof Exit) process.exitCode = error.code
  else if (error instanceof CommanderError) process.exitCode = 2
  else throw error
}
