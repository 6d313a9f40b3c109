import { setTimeout as sleep } from 'node:timers/promises'
import { refuse } from '../../core/error/error.ts'
import { before, timestamp } from '../../core/timestamp.ts'
import {
  type AuditEvent,
  type AuditFilter,
  detailText,
  listActions,
  listEvents,
} from '../../generator/accounts/audit.ts'
import { type RegistryTask, registryCommand } from '../../generator/cli/console/command.ts'
import type { Io } from '../../generator/cli/console/io.ts'
import { table } from '../../generator/cli/console/table.ts'
import type { Database } from '../../generator/database/connection.ts'

type Conditions = Pick<AuditFilter, 'since' | 'actor' | 'crate' | 'action'>

interface AuditOptions extends Conditions {
  readonly limit: string
  readonly follow?: boolean
}

export const registerAudit = registryCommand('audit', {
  about: 'print the audit log: what changed, when and by whom, oldest first',
  takes: {
    '--since <duration>': 'only events of this last period, such as 90d, 12h, 30m, 10s',
    '--actor <username>': 'only events by this user; `command line` for the operator',
    '--crate <name>': 'only events of this crate',
    '--action <action>': 'only this action, such as publish, yank, login',
    '--limit <n>': { about: 'at most this many events, the latest ones', default: '100' },
    '--follow': 'keep printing new events until interrupted, or until nobody reads them',
  },
  examples: {
    'plimsoll audit --since 7d --crate demo': 'prints a week of one crate',
    'plimsoll audit --json': 'prints the latest 100 events for a program',
  },
  json: 'an array with an object for each event, with --follow one object per line: `id`; `at`; `action`; `actor`; `token` and `token_name`, `address`, `crate`, `version` and `detail`, null if there is none',
  fails: 'the registry cannot be read',
  reads: true,
  async run({ io, registry, options, report }: RegistryTask<AuditOptions>) {
    const { database } = registry
    const filter = readFilter(io, options)
    const events = await listEvents(database, filter)
    if (events.length === 0) for (const hint of await hintsOf(database, filter)) io.err(hint)
    if (!options.follow) return report(events, table(HEAD, events.map(cellsOf)))
    let isFirst = true
    await pollEvents(database, filter, events, io.isRead, batch => {
      const [head = '', ...lines] = table(HEAD, batch.map(cellsOf))
      for (const line of options.json ? batch.map(event => JSON.stringify(event)) : lines) {
        if (isFirst && !options.json) io.out(head)
        isFirst = false
        io.out(line)
      }
    })
  },
})

function readFilter(io: Io, options: AuditOptions): AuditFilter {
  const { since, actor, crate, action, limit } = options
  if (!/^[1-9][0-9]{0,5}$/.test(limit)) refuse('limit_invalid', { text: limit })
  const from = since === undefined ? since : timestamp(before(io.now(), since))
  return { since: from, actor, crate, action, limit: Number(limit) }
}

/** Says which of the names no event has at all: they may be misspelt. */
async function hintsOf(
  database: Database,
  { actor, crate, action }: AuditFilter,
): Promise<readonly string[]> {
  const actions = (await listActions(database)).join(', ') || 'no events'
  const asked = [
    { actor, hint: `no event is by ${actor}` },
    { crate, hint: `no event is about ${crate}` },
    { action, hint: `no event has the action ${action}; the log has: ${actions}` },
  ]
  const hints: string[] = []
  for (const { hint, ...name } of asked) {
    if (Object.values(name)[0] === undefined) continue
    if ((await listEvents(database, { ...name, limit: 1 })).length === 0) hints.push(hint)
  }
  return hints
}

async function pollEvents(
  database: Database,
  filter: AuditFilter,
  first: readonly AuditEvent[],
  isRead: () => boolean,
  print: (events: readonly AuditEvent[]) => void,
): Promise<void> {
  let events = first
  let after = 0
  for (;;) {
    print(events)
    after = events.at(-1)?.id ?? after
    await sleep(500)
    if (!isRead()) return
    events = await listEvents(database, { ...filter, after })
  }
}

const HEAD = ['time', 'actor', 'action', 'crate', 'version', 'token', 'address', 'detail']

function cellsOf(event: AuditEvent): string[] {
  const { at, actor, action, crate, version, token, address } = event
  const cells = [at, actor, action, crate, version, token, address, detailText(event)]
  return cells.map(cell => String(cell ?? ''))
}
