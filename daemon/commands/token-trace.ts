import { refuse, refuseErrors } from '../../core/error/error.ts'
import type { Name } from '../../core/name.ts'
import { before, timestamp } from '../../core/timestamp.ts'
import type { Version } from '../../core/version.ts'
import { showChanges } from '../../generator/cli/console/changes.ts'
import { type RegistryTask, registryCommand } from '../../generator/cli/console/command.ts'
import { table } from '../../generator/cli/console/table.ts'
import { listPublished, type Published } from '../../generator/records/accounts/tokens.ts'
import { setYanked } from '../../generator/records/release-changes.ts'
import { rowId } from '../http/paging.ts'

interface TraceOptions {
  readonly since?: string
  readonly yank?: boolean
}

export const registerTrace = registryCommand('trace', {
  about: 'list the versions that a token has published, also a revoked one',
  takes: [
    ['<id>', 'its number in the output of `token list` or `audit`'],
    ['--since <duration>', 'only those of this last period, such as 90d, 12h, 30m, 10s'],
    ['--yank', 'yank them'],
  ],
  examples: [
    ['plimsoll token trace 1', 'a line for each version'],
    ['plimsoll token trace 1 --since 2d --yank', 'yanks what it has published in two days'],
  ],
  json: 'an array with an object for each version: `name`; `version`; `at`; `address`, from where, or null; `state`: `available`, `yanked` or `deleted`',
  fails: 'there is no such token, or a yank could not be rendered',
  async run(task: RegistryTask<TraceOptions>, id: string) {
    const { io, registry, options, report } = task
    const row = rowId(id) ?? refuse('token_id_invalid', { id })
    const since = options.since === undefined ? '' : timestamp(before(io.now(), options.since))
    const found = await listPublished(registry.database, row, since)
    const shown = options.yank ? await yankAll(task, found) : found
    report(shown, table(HEAD, shown.map(cellsOf)))
  },
})

const HEAD = ['published', 'crate', 'version', 'from', 'state']

function cellsOf({ at, name, version, address, state }: Published): string[] {
  return [at, name, version, address ?? '', state]
}

/** Yanks those that are not yanked. A killed run is simply repeated. */
async function yankAll(task: RegistryTask, found: readonly Published[]): Promise<Published[]> {
  const { registry, change } = task
  const yanked: Published[] = []
  for (const release of found) {
    const { name, version, state } = release
    if (state === 'available')
      await setYanked(registry, name as Name, version as Version, true, change)
    yanked.push(state === 'available' ? { ...release, state: 'yanked' } : release)
  }
  refuseErrors((await showChanges(task)).issues)
  return yanked
}
