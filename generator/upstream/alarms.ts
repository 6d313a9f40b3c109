import type { Name } from '../../core/name.ts'
import { ALARMS, alarmPath } from '../../core/paths/upstream.ts'
import type { Alarm } from '../../core/upstream/crate.ts'
import type { Place } from '../places/place.ts'
import type { Upstream } from './upstream.ts'

/** The most alarms that are listed. */
const LISTED = 1000

/**
 * Keeps an alarm until somebody clears it; the first one of a version stays. Returns whether this
 * is the first.
 */
export async function keepAlarm(place: Place, alarm: Alarm): Promise<boolean> {
  const bytes = Buffer.from(`${JSON.stringify(alarm)}\n`)
  const path = alarmPath(alarm.name, alarm.version)
  return (await place.put(path, bytes, { onlyIf: 'absent' })) !== null
}

/** Lists the alarms that nobody has cleared, oldest first; at most 1,000. */
export async function listAlarms(place: Place): Promise<Alarm[]> {
  const alarms: Alarm[] = []
  for await (const { path } of place.list(ALARMS)) {
    const found = await place.read(path)
    if (found) alarms.push(JSON.parse(found.bytes.toString('utf8')))
    if (alarms.length === LISTED) break
  }
  return alarms.sort((a, b) => (a.at < b.at ? -1 : 1))
}

/** Clears the alarm of a version; returns whether there was one. */
export async function clearAlarm(place: Place, name: Name, version: string): Promise<boolean> {
  const path = alarmPath(name, version)
  if ((await place.head(path)) === null) return false
  await place.remove(path)
  return true
}

/** An alarm that nobody has cleared, for programs. */
export interface OpenAlarm {
  readonly upstream: string
  readonly kind: Alarm['kind']
  readonly crate: Name
  readonly version: string
  readonly at: string
}

/** Lists the open alarms of all upstreams; those with one index share theirs. */
export async function openAlarms(upstreams: {
  readonly byName: ReadonlyMap<string, Upstream>
}): Promise<OpenAlarm[]> {
  const sources = new Set([...upstreams.byName.values()].map(({ source }) => source))
  const found: OpenAlarm[] = []
  for (const { name: upstream, place } of sources)
    for (const { kind, name: crate, version, at } of await listAlarms(place))
      found.push({ upstream, kind, crate, version, at })
  return found
}
