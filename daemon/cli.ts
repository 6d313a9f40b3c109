#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { Command, CommanderError } from 'commander'
import { type CommandTable, commands, loadCommands } from '../generator/cli/cli.ts'
import { Exit, type Io } from '../generator/cli/io.ts'

// The reader may be gone: `head` at the end of a pipe (EPIPE) or a closed terminal (EIO). The
// command still does its work.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error
  })
}

/** A second SIGINT within this time is the same Ctrl-C, sent by the terminal and again by `npx`. */
const SAME_INTERRUPT_MS = 250

const io: Io = {
  env: process.env,
  now: () => new Date(),
  out: line => process.stdout.write(`${line}\n`),
  err: line => process.stderr.write(`${line}\n`),
  isWatched: process.stderr.isTTY === true,
}

const program = new Command('plimsoll')
  .description(
    'A Cargo registry: plain files for everyone who reads, a small daemon for those who publish.',
  )
  .version(version())
  .exitOverride()

/** All commands; each is a module of its own, so a command loads only what it needs. */
const table: CommandTable = {
  ...commands,
  user: async () => {
    const { registerUser } = await import('./commands/user.ts')
    return (to, world) => registerUser(to, world, () => text(process.stdin))
  },
  token: async () => (await import('./commands/token.ts')).registerToken,
  audit: async () => (await import('./commands/audit.ts')).registerAudit,
  serve: async () => {
    const { registerServe } = await import('./commands/serve.ts')
    return (to, world) => registerServe(to, world, stopSignal)
  },
}
for (const register of await loadCommands(table, process.argv[2])) register(program, io)

/** Returns the version in this package's package.json. */
function version(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}

/**
 * Resolves at the first SIGTERM, SIGINT or SIGHUP, or when the parent closes its IPC channel.
 * Later signals have no effect, except that a second Ctrl-C ends the process at once.
 */
function stopSignal(): Promise<void> {
  return new Promise(resolve => {
    let interrupted: number | null = null
    process.on('SIGINT', () => {
      interrupted ??= performance.now()
      if (performance.now() - interrupted > SAME_INTERRUPT_MS) process.exit(130)
      resolve()
    })
    for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve())
    process.once('disconnect', () => resolve())
    process.channel?.unref()
  })
}

try {
  await program.parseAsync()
} catch (error) {
  if (error instanceof Exit) process.exitCode = error.code
  else if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2
  else throw error
}
