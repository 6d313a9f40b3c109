import type { Command } from 'commander'
import { refuse, refuseErrors } from '../../core/error/error.ts'
import type { Name } from '../../core/name.ts'
import { before, timestamp } from '../../core/timestamp.ts'
import type { Version } from '../../core/version.ts'
import { showChanges } from '../../generator/cli/console/changes.ts'
import { withRegistry } from '../../generator/cli/console/folder.ts'
import { type FolderOptions, type Io, report, withDir } from '../../generator/cli/console/io.ts'
import { withManual } from '../../generator/cli/console/manual.ts'
import { table } from '../../generator/cli/console/table.ts'
import { listPublished, type Published } from '../../generator/records/accounts/tokens.ts'
import { operatorChange } from '../../generator/records/change.ts'
import { setYanked } from '../../generator/records/release-changes.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import { rowId } from '../http/paging.ts'

interface TraceOptions extends FolderOptions {
  readonly since?: string
  readonly yank?: boolean
  readonly json?: boolean
}

/** `token trace ID [--since DURATION] [--yank]`: what a token has published, as after a theft. */
export function registerTrace(token: Command, io: Io): void {
  const trace = withDir(token.command('trace'), io)
    .description('list the versions that a token has published, also a revoked one')
    .argument('<id>', 'its number in the output of `token list` or `audit`')
    .option('--since <duration>', 'only those of this last period, such as 90d, 12h, 30m, 10s')
    .option('--yank', 'yank them')
    .action((id: string, options: TraceOptions) =>
      withRegistry(io, options, async registry => {
        const row = rowId(id) ?? refuse('token_id_invalid', { id })
        const since = options.since === undefined ? '' : timestamp(before(io.now(), options.since))
        const found = await listPublished(registry.database, row, since)
        const shown = options.yank ? await yankAll(io, registry, found) : found
        report(io, options, shown, table(HEAD, shown.map(cellsOf)))
      }),
    )
  withManual(trace, {
    examples: [
      ['plimsoll token trace 1', 'a line for each version'],
      ['plimsoll token trace 1 --since 2d --yank', 'yanks what it has published in two days'],
    ],
    json: 'an array with an object for each version: `name`; `version`; `at`; `address`, from where, or null; `state`: `available`, `yanked` or `deleted`',
    fails: 'there is no such token, or a yank could not be rendered',
  })
}

const HEAD = ['published', 'crate', 'version', 'from', 'state']

function cellsOf({ at, name, version, address, state }: Published): string[] {
  return [at, name, version, address ?? '', state]
}

/** Yanks those that are not yanked. A killed run is simply repeated. */
async function yankAll(
  io: Io,
  registry: Registry,
  found: readonly Published[],
): Promise<Published[]> {
  const change = operatorChange(timestamp(io.now()))
  const yanked: Published[] = []
  for (const release of found) {
    const { name, version, state } = release
    if (state === 'available')
      await setYanked(registry, name as Name, version as Version, true, change)
    yanked.push(state === 'available' ? { ...release, state: 'yanked' } : release)
  }
  refuseErrors((await showChanges(io, registry)).issues)
  return yanked
}
