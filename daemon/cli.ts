#!/usr/bin/env node
import { homedir } from 'node:os'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { isatty } from 'node:tty'
import { CommanderError } from 'commander'
import { collectBytes } from '../core/async/collect-bytes.ts'
import { refuse } from '../core/error/error.ts'
import { type Caller, Exit } from '../generator/cli/console/io.ts'
import { terminalIo } from '../generator/cli/console/terminal.ts'
import { createProgram } from './program.ts'

// Libraries ask for the home folder of a user who may have none: a uid without an account.
try {
  homedir()
} catch {
  process.env.HOME = '/nonexistent'
}

/** Why something could not be printed to stdout: nobody reads it any more, or its disk is full. */
let cut: NodeJS.ErrnoException | null = null

// The command still does its work, and a daemon goes on without a log.
process.stderr.on('error', () => undefined)
process.stdout.on('error', error => {
  cut = error
})

// The reader may be gone: `head` at the end of a pipe (EPIPE) or a closed terminal (EIO).
process.on('exit', code => {
  if (code !== 0 || cut === null || cut.code === 'EPIPE' || cut.code === 'EIO') return
  io.err(`error: the output is incomplete: ${cut.message}`)
  process.exitCode = 1
})

/** A second SIGINT within this time is the same Ctrl-C, sent by the terminal and again by `npx`. */
const SAME_INTERRUPT_MS = 250

/** Whether somebody sits at a terminal of this process, whose end is a SIGHUP. */
const isOnTerminal = [0, 1, 2].some(descriptor => isatty(descriptor))

/**
 * Resolves with its name at the first SIGTERM or SIGINT, when the terminal ends, or when the parent
 * closes its IPC channel. Later signals have no effect, except that a second Ctrl-C ends the
 * process at once. Without a terminal, SIGHUP calls `reload`.
 */
function stopSignal(reload: () => void): Promise<string> {
  return new Promise(resolve => {
    let interrupted: number | null = null
    process.on('SIGINT', () => {
      interrupted ??= performance.now()
      if (performance.now() - interrupted > SAME_INTERRUPT_MS) process.exit(130)
      resolve('SIGINT')
    })
    process.on('SIGTERM', () => resolve('SIGTERM'))
    process.on('SIGHUP', () => (isOnTerminal ? resolve('SIGHUP') : reload()))
    process.once('disconnect', () => resolve('the parent process ended'))
    process.channel?.unref()
  })
}

/** Asks at the terminal for a text that is not shown; an empty one when the input ends. */
function askSecret(question: string): Promise<string> {
  const output = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output, terminal: true })
  // From now on the terminal does not show what is typed.
  process.stderr.write(question)
  return new Promise(resolve => {
    lines.once('SIGINT', () => process.exit(130))
    lines.once('line', line => {
      resolve(line)
      lines.close()
    })
    lines.once('close', () => {
      process.stderr.write('\n')
      resolve('')
    })
  })
}

/** More than any password has. */
const INPUT_MAX = 64 * 1024

const io = terminalIo(process)
const ends = {
  openRegistry: async (...args: Parameters<Caller['openRegistry']>) =>
    (await import('../generator/open.ts')).openRegistry(...args),
  askSecret: process.stdin.isTTY ? askSecret : null,
  readInput: async () => {
    const bytes = await collectBytes(process.stdin, INPUT_MAX)
    if (bytes === null) return refuse('import_too_long', { what: 'standard input', max: INPUT_MAX })
    return String(bytes)
  },
  stopped: stopSignal,
  isRead: () => cut === null,
}
const program = await createProgram(io, process.argv.slice(2), ends)
try {
  await program.parseAsync()
  // A request to a storage may go on that is away; its work was given up.
  if (process.argv[2] === 'serve') setTimeout(() => process.exit(), 500).unref()
} catch (error) {
  io.transient?.('')
  if (error instanceof Exit) process.exitCode = error.code
  else if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2
  else throw error
}
