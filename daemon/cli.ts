#!/usr/bin/env node
import { text } from 'node:stream/consumers'
import { Command, CommanderError } from 'commander'
import { pino } from 'pino'
import { Exit, type Io, registerCommands, run, withDir } from '../generator/index.ts'
import { registerAudit } from './commands/audit.ts'
import { registerToken } from './commands/token.ts'
import { registerUser } from './commands/user.ts'
import { serve } from './serve.ts'

const io: Io = {
  env: process.env,
  now: () => new Date(),
  out: line => process.stdout.write(`${line}\n`),
  err: line => process.stderr.write(`${line}\n`),
  isWatched: process.stderr.isTTY === true,
}

const program = new Command('plimsoll')
  .description('A Cargo registry: plain files for everyone who reads, a small daemon for those who publish.')
  .exitOverride()

registerCommands(program, io)
registerUser(program, io, () => text(process.stdin))
registerToken(program, io)
registerAudit(program, io)
withDir(program.command('serve'), io)
  .description('run the daemon')
  .option('--listen <host:port>', 'where to listen; port 0 takes a free one')
  .action((options: { dir: string; listen?: string }) =>
    run(io, () => serve(io, { ...options, logTo: pino.destination(2), stopped: signal() })),
  )

/** Resolves at the first request to stop; a second one ends the process at once, as its sender expects. */
function signal(): Promise<void> {
  return new Promise(resolve => {
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => resolve())
  })
}

try {
  await program.parseAsync()
} catch (error) {
  if (error instanceof Exit) process.exitCode = error.code
  else if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2
  else throw error
}
