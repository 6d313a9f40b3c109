import { refuse } from '../../core/error/error.ts'
import type { Name } from '../../core/name.ts'
import { ALARMS, alarmPath } from '../../core/paths/upstream.ts'
import { type Alarm, ANY_VERSION, acceptChange } from '../../core/upstream/crate.ts'
import type { Version } from '../../core/version.ts'
import type { Database } from '../database/connection.ts'
import type { Place } from '../places/place.ts'
import { addEvent, type Change, makeChange } from '../records/change.ts'
import type { Upstream } from './upstream.ts'

/**
 * Keeps an alarm until somebody clears it; the first one of a version stays. Returns whether this
 * is the first.
 */
export async function keepAlarm(place: Place, alarm: Alarm): Promise<boolean> {
  const bytes = Buffer.from(`${JSON.stringify(alarm)}\n`)
  const path = alarmPath(alarm.name, alarm.version)
  return (await place.put(path, bytes, { onlyIf: 'absent' })) !== null
}

/** Lists alarms that nobody has cleared, oldest first; at most `most`. */
export async function listAlarms(place: Place, most = 1000): Promise<Alarm[]> {
  const alarms: Alarm[] = []
  for await (const { path } of place.list(ALARMS)) {
    const found = await place.read(path)
    if (found) alarms.push(JSON.parse(found.bytes.toString('utf8')))
    if (alarms.length === most) break
  }
  return alarms.sort((a, b) => (a.at < b.at ? -1 : 1))
}

/**
 * Takes over what an upstream says of a version now, and clears its alarm; for null, clears that of
 * the whole crate. An audit event says who did. Returns whether there was an alarm; refuses what
 * nothing is known of.
 */
export async function acceptVersion(
  database: Database,
  change: Change,
  { name: upstream, source: { index, place } }: Upstream,
  { name, version }: { readonly name: Name; readonly version: Version | null },
): Promise<boolean> {
  const path = alarmPath(name, version ?? ANY_VERSION)
  const hasAlarm = (await place.head(path)) !== null
  const isKnown = version !== null && (await index.kept(name))?.lines.has(version) === true
  const spec = version === null ? name : `${name}@${version}`
  if (!hasAlarm && !isKnown) refuse('upstream_crate_unknown', { spec, upstream })
  const which = version === null ? {} : { version }
  const event = { action: 'upstream-accept', crate: name, ...which, detail: { upstream } }
  // Before anything else: it requires the right to the change.
  await makeChange(database, change, (tx, by) => addEvent(tx, by, event))
  if (isKnown) await index.change(name, crate => acceptChange(crate, version))
  if (hasAlarm) await place.remove(path)
  return hasAlarm
}
