import type { Command } from 'commander'
import { registerAdd } from './cli/add.ts'
import { registerBackup } from './cli/backup.ts'
import { registerBuild } from './cli/build.ts'
import { registerDelete } from './cli/delete.ts'
import { registerImport } from './cli/import.ts'
import { registerInit } from './cli/init.ts'
import type { Io } from './cli/io.ts'
import { registerReports } from './cli/reports.ts'
import { registerVerify } from './cli/verify.ts'
import { registerYank } from './cli/yank.ts'

/** The commands that need no server. */
export function registerCommands(program: Command, io: Io): void {
  registerInit(program, io)
  registerAdd(program, io)
  registerYank(program, io)
  registerImport(program, io)
  registerBuild(program, io)
  registerVerify(program, io)
  registerDelete(program, io)
  registerReports(program, io)
  registerBackup(program, io)
}
