import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { withManual } from '../../generator/cli/console/manual.ts'
import { type FolderOptions, report } from '../../generator/cli/io.ts'
import {
  before,
  type Database,
  type Io,
  readRegistry,
  refuse,
  timestamp,
  withDir,
} from '../../generator/index.ts'
import {
  type AuditEvent,
  type AuditFilter,
  detailText,
  listActions,
  listEvents,
} from '../accounts/audit.ts'

type Asked = Pick<AuditFilter, 'since' | 'actor' | 'crate' | 'action'>

interface AuditOptions extends FolderOptions, Asked {
  readonly limit: string
  readonly json?: boolean
  readonly follow?: boolean
}

/** Registers `audit`, which prints the audit log; `isRead`: whether somebody still reads stdout. */
export function registerAudit(program: Command, io: Io, isRead: () => boolean): void {
  const audit = withDir(program.command('audit'), io)
    .description('print the audit log: what changed, when and by whom, oldest first')
    .option('--since <duration>', 'only events of this last period, such as 90d, 12h, 30m, 10s')
    .option('--actor <username>', 'only events by this user; `command line` for the operator')
    .option('--crate <name>', 'only events of this crate')
    .option('--action <action>', 'only this action, such as publish, yank, login')
    .option('--limit <n>', 'at most this many events, the latest ones', '100')
    .option('--follow', 'keep printing new events until interrupted, or until nobody reads them')
    .action((options: AuditOptions) =>
      readRegistry(io, options, async ({ database }) => {
        const filter = readFilter(io, options)
        const events = await listEvents(database, filter)
        const print = (event: AuditEvent) =>
          io.out(options.json ? JSON.stringify(event) : line(event))
        if (events.length === 0) await nameActions(io, database, filter)
        if (options.follow) await follow(database, filter, events, print, isRead)
        else report(io, options, events, events.map(line))
      }),
    )
  withManual(audit, {
    examples: [
      ['plimsoll audit --since 7d --crate demo', 'prints a week of one crate'],
      ['plimsoll audit --json', 'prints the latest 100 events for a program'],
    ],
    json: 'an array with an object for each event, with --follow one object per line: `id`; `at`; `action`; `actor`; `token`, `address`, `crate`, `version` and `detail`, null if there is none',
    fails: 'the registry cannot be read',
  })
}

function readFilter(io: Io, options: AuditOptions): AuditFilter {
  const { since, actor, crate, action, limit } = options
  if (!/^[1-9][0-9]{0,5}$/.test(limit)) refuse('limit_invalid', { text: limit })
  const from = since === undefined ? since : timestamp(before(io.now(), since))
  return { since: from, actor, crate, action, limit: Number(limit) }
}

/** Says which actions there are if no event has the one that was asked for: it may be misspelt. */
async function nameActions(io: Io, database: Database, { action }: AuditFilter): Promise<void> {
  const actions = await listActions(database)
  if (action === undefined || actions.includes(action)) return
  io.err(`no event has the action ${action}; the log has: ${actions.join(', ') || 'no events'}`)
}

/** Prints new events until the process ends, or nobody reads them any more. */
async function follow(
  database: Database,
  filter: AuditFilter,
  first: readonly AuditEvent[],
  print: (event: AuditEvent) => void,
  isRead: () => boolean,
): Promise<void> {
  let events = first
  let after = 0
  for (;;) {
    events.forEach(print)
    after = events.at(-1)?.id ?? after
    await sleep(500)
    if (!isRead()) return
    events = await listEvents(database, { ...filter, after })
  }
}

function line(event: AuditEvent): string {
  const { at, actor, action, crate, version, token, address } = event
  const how = [token && `token ${token}`, address && `from ${address}`]
  const parts = [[at], [actor], [action], [crate, version], [detailText(event)], how]
  const texts = parts.map(part => part.filter(one => one !== null).join(' '))
  return texts.filter(text => text !== '').join('  ')
}
