import type { Command } from 'commander'
import type { Io } from '../console/io.ts'
import { registerConfig } from './config.ts'
import { registerExport } from './export.ts'
import { registerUpstream } from './upstream.ts'

/** The commands about crates of other registries, which are loaded together. */
export function registerUpstreamCommands(program: Command, io: Io): void {
  registerConfig(program, io)
  registerUpstream(program, io)
  registerExport(program, io)
}
