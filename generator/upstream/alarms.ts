import { refuse } from '../../core/error/error.ts'
import type { Name } from '../../core/name.ts'
import { ALARMS, alarmPath } from '../../core/paths/upstream.ts'
import { type Alarm, ANY_VERSION, acceptChange, LEFT_OUT } from '../../core/upstream/crate.ts'
import { requireThisBuild, type Version } from '../../core/version.ts'
import type { Database } from '../database/connection.ts'
import type { Place } from '../places/place.ts'
import { addEvent, type Change, makeChange } from '../records/change.ts'
import type { Upstream } from './upstream.ts'

/** A stored alarm. If it comes again and again, it stays also after an administrator cleared it. */
type KeptAlarm = Alarm & { readonly isCleared?: true }

/** Whether an alarm is found again and again, and not only when something changes. */
export function isLasting({ kind }: Alarm): boolean {
  return kind === 'lure' || kind === 'name' || LEFT_OUT.some(each => each === kind)
}

/**
 * Keeps an alarm until somebody clears it; the first one of a version stays. Returns whether this
 * is the first, or the first of its kind since another one was cleared: then `tell` comes before,
 * so that a crash has it told twice and not never.
 */
export async function keepAlarm(
  place: Place,
  alarm: Alarm,
  tell?: () => Promise<unknown>,
): Promise<boolean> {
  // One about lines that are left out hides no other one of the crate.
  const isLeftOut = LEFT_OUT.some(kind => kind === alarm.kind)
  const path = alarmPath(alarm.name, isLeftOut ? alarm.kind : alarm.version)
  const file = await place.read(path)
  const before = file && read(file.bytes)
  if (before && !(before.isCleared && before.kind !== alarm.kind)) return false
  await tell?.()
  const onlyIf = file ? { etag: file.etag } : 'absent'
  return (await place.put(path, bytesOf(alarm), { onlyIf })) !== null
}

/** Lists alarms that nobody has cleared, oldest first; at most `most`. */
export async function listAlarms(place: Place, most = 1000): Promise<Alarm[]> {
  const alarms: Alarm[] = []
  for await (const { path } of place.list(ALARMS)) {
    const file = await place.read(path)
    const alarm = file && read(file.bytes)
    if (alarm && !alarm.isCleared) alarms.push(alarm)
    if (alarms.length === most) break
  }
  return alarms.sort((a, b) => (a.at < b.at ? -1 : 1))
}

/**
 * Takes over what an upstream says of a version now, and clears its alarm; for null, clears those
 * of the whole crate. An audit event says who did. Returns whether there was an alarm; refuses what
 * nothing is known of.
 */
export async function acceptVersion(
  database: Database,
  change: Change,
  { name: upstream, source: { index, place } }: Upstream,
  { name, version }: { readonly name: Name; readonly version: Version | null },
): Promise<boolean> {
  const open: (readonly [path: string, alarm: KeptAlarm])[] = []
  for (const about of version === null ? [ANY_VERSION, ...LEFT_OUT] : [version]) {
    const path = alarmPath(name, about)
    const file = await place.read(path)
    const alarm = file && read(file.bytes)
    if (alarm && !alarm.isCleared) open.push([path, alarm])
  }
  const hasAlarm = open.length > 0
  const lines = (await index.kept(name))?.lines
  const isKnown = version !== null && lines?.has(version) === true
  const spec = version === null ? name : `${name}@${version}`
  if (!hasAlarm && !isKnown) {
    if (version) requireThisBuild(lines?.keys() ?? [], { name, version })
    refuse('upstream_crate_unknown', { spec, upstream })
  }
  const which = version === null ? {} : { version }
  const event = { action: 'upstream-accept', crate: name, ...which, detail: { upstream } }
  // Before anything else: it requires the right to the change.
  await makeChange(database, change, 'administrator', (tx, by) => addEvent(tx, by, event))
  if (isKnown) await index.change(name, crate => acceptChange(crate, version))
  for (const [path, alarm] of open)
    if (isLasting(alarm)) await place.put(path, bytesOf({ ...alarm, isCleared: true }))
    else await place.remove(path)
  return hasAlarm
}

function read(bytes: Uint8Array): KeptAlarm {
  return JSON.parse(Buffer.from(bytes).toString('utf8'))
}

function bytesOf(alarm: KeptAlarm): Buffer {
  return Buffer.from(`${JSON.stringify(alarm)}\n`)
}
