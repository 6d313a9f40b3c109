// generator/webhooks: What other programs are told of changes. The daemon sends it, commands show
// it; it never decides about a change.
import { createHash } from 'node:crypto'
import { EVENT_TYPES, type WebhookSettings } from '../../core/settings/webhook.ts'
import type { Database } from '../database/connection.ts'
import { column, LIST, type Queries, run } from '../database/statement.ts'
import type { CrateChange, Follower, Told } from '../records/crate-change.ts'

type Webhooks = Readonly<Record<string, WebhookSettings>>

/** Records the events of each change in its transaction, for each webhook that asks for them. */
export const webhooks: Follower = {
  kind: 'webhook',
  work: 'events',
  async changed(tx, change) {
    if (change.told.length > 0) await recordEvents(tx, change.told, change)
    return []
  },
}

/** What events are about; an upstream's crate has no id. */
interface ToldAbout extends Pick<CrateChange, 'at' | 'generation'> {
  readonly actor?: string
  readonly crate: { readonly id: number | null; readonly name: string }
}

/** Records events to be sent, in the transaction of what they tell. */
export async function recordEvents(
  tx: Queries,
  told: readonly Told[],
  { at, generation, actor, crate }: ToldAbout,
): Promise<void> {
  const events = told.map(({ type, ...more }) => {
    const by = { generation: more.generation ?? generation, actor: more.actor ?? actor }
    const data = JSON.stringify({ crate: crate.name, ...more, ...by })
    // The data has a generation, which no two changes of a crate share.
    const id = createHash('sha256').update(`${at} ${type} ${data}`).digest('base64url')
    return { message: `msg_${id}`, type, data }
  })
  const sql = `INSERT INTO deliveries
      (webhook, message, type, crate_id, generation, data, at, due_at)
    SELECT webhooks.name, value ->> 'message', value ->> 'type', CAST(? AS INTEGER),
      CAST(? AS INTEGER), value ->> 'data', ?, ?
    FROM webhooks CROSS JOIN json_each(?)
    WHERE ended_at IS NULL AND instr(events, ' ' || (value ->> 'type') || ' ') > 0`
  await run(tx, sql, crate.id, generation, at, new Date(at).toISOString(), events)
}

/**
 * Notes the webhooks of the settings in the records, where every program that changes them sees
 * whom to tell. A new URL begins again where the receiver had ended the old one.
 */
export async function recordWebhooks(database: Database, settings: Webhooks): Promise<void> {
  const recorded = await column(database, 'SELECT name || target || events FROM webhooks')
  const wanted = Object.values(settings).map(({ name, url, events: asked }) => {
    const target = createHash('sha256').update(url).digest('hex')
    return [name, target, ` ${(asked.length > 0 ? asked : EVENT_TYPES).join(' ')} `]
  })
  const sql = `INSERT INTO webhooks (name, target, events) VALUES (?, ?, ?)
    ON CONFLICT (name) DO UPDATE SET target = excluded.target, events = excluded.events,
      ended_at = CASE webhooks.target WHEN excluded.target THEN webhooks.ended_at END`
  for (const row of wanted)
    if (!recorded.includes(row.join(''))) await database.transaction(tx => run(tx, sql, ...row))
}

/** Deletes the webhooks that are not among `names`, and the events that they were still to get. */
export async function deleteWebhooks(database: Database, names: readonly string[]): Promise<void> {
  await database.transaction(async tx => {
    await run(tx, `DELETE FROM webhooks WHERE name NOT IN ${LIST}`, names)
    await run(tx, `DELETE FROM deliveries WHERE webhook NOT IN ${LIST}`, names)
  })
}
