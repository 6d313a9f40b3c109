import type { Command } from 'commander'
import { run } from '../../generator/cli/io.ts'
import { type Io, withDir } from '../../generator/index.ts'
import { serve } from '../serve.ts'

/** `serve`: the daemon. `stopped` begins to wait for the request to stop. */
export function registerServe(program: Command, io: Io, stopped: () => Promise<void>): void {
  withDir(program.command('serve'), io)
    .description('run the daemon')
    .option(
      '--listen <address>',
      'where to listen: HOST:PORT, PORT or unix:/PATH; port 0 takes a free one',
    )
    .action((options: { dir: string; listen?: string }) =>
      run(io, () => serve(io, { ...options, logTo: process.stderr, stopped: stopped() })),
    )
}
