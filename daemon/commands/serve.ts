import type { Command } from 'commander'
import {
  type FolderOptions,
  flagsOf,
  type Io,
  run,
  withDir,
  withSettingFlags,
} from '../../generator/cli/io.ts'
import { serve } from '../serve.ts'

/** `serve`: the daemon. `stopped` begins to wait for the request to stop. */
export function registerServe(program: Command, io: Io, stopped: () => Promise<void>): void {
  withSettingFlags(withDir(program.command('serve'), io))
    .description('run the daemon')
    .action((options: FolderOptions) => {
      const { dir } = options
      const flags = flagsOf(options)
      return run(io, () => serve(io, { dir, flags, logTo: process.stderr, stopped: stopped() }))
    })
}
