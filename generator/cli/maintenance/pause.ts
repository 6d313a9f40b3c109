import type { Command } from 'commander'
import { after, timestamp } from '../../../core/timestamp.ts'
import { beginPause, endPause } from '../../records/pause.ts'
import { withRegistry } from '../console/folder.ts'
import { type FolderOptions, type Io, report, withDir } from '../console/io.ts'
import { withManual } from '../console/manual.ts'

interface PauseOptions extends FolderOptions {
  readonly for: string
  readonly json?: boolean
}

/** `pause [--for 10m]` and `resume`: let nothing be changed for a while. */
export function registerPause(program: Command, io: Io): void {
  const pausing = withDir(program.command('pause'), io)
    .description('let nothing be changed for a while, as for maintenance; readers go on')
    .option('--for <duration>', 'when it ends by itself, such as `90s` or `2h`', '10m')
    .action((options: PauseOptions) =>
      withRegistry(io, options, async ({ database }) => {
        const now = io.now()
        const end = after(now, options.for)
        const seconds = (end.getTime() - now.getTime()) / 1000
        await database.transaction(tx => beginPause(tx, seconds))
        const until = timestamp(end)
        report(io, options, { until }, [
          `the registry is paused until ${until}; \`plimsoll resume\` ends it`,
        ])
      }),
    )
  withManual(pausing, {
    examples: [['plimsoll pause --for 30m', 'publishers are asked to come back later']],
    json: 'an object: `until`, when it ends by itself',
    fails: 'the registry is not paused, or a move is under way',
  })
  const resuming = withDir(program.command('resume'), io)
    .description('end a pause; a move that is copying the records is given up')
    .action((options: FolderOptions & { json?: boolean }) =>
      withRegistry(io, options, async ({ database }) => {
        const resumed = await endPause(database)
        report(io, options, { resumed }, [
          resumed ? 'the registry takes changes again' : 'the registry was not paused',
        ])
      }),
    )
  withManual(resuming, {
    examples: [['plimsoll resume', 'publishers may go on']],
    json: 'an object: `resumed`, false if there was no pause',
    fails: 'the pause goes on',
  })
}
