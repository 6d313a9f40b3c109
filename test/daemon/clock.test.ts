// Mirrors core/timestamp.ts: a clock that was years ahead for a while
import assert from 'node:assert/strict'
import { existsSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { dayOf, sumUntil } from '../../core/day-counts.ts'
import type { Name } from '../../core/name.ts'
import { timestamp } from '../../core/timestamp.ts'
import type { Version } from '../../core/version.ts'
import { findUser } from '../../generator/accounts/accounts.ts'
import { makeLink, requireLink } from '../../generator/accounts/credentials.ts'
import { findSession, listSessions, startSession } from '../../generator/accounts/sessions.ts'
import { all, run, value } from '../../generator/database/statement.ts'
import { sweepFolder } from '../../generator/places/disk/files.ts'
import { temporaryPath } from '../../generator/places/disk/steps.ts'
import {
  addDownloads,
  hasDueDownloads,
  markDueDownloads,
} from '../../generator/records/downloads/count.ts'
import {
  CRATE_ROWS,
  readDownloads,
  registryDownloads,
} from '../../generator/records/downloads/read.ts'
import { dueMarks, marksOf, postponeMark, setMarks } from '../../generator/records/marks.ts'
import { readPause, requireUnpaused } from '../../generator/records/pause.ts'
import { LAST_BACKUP, writeValue } from '../../generator/records/values.ts'
import { pruneDeliveries } from '../../generator/webhooks/deliveries.ts'
import { TestRegistry } from '../support/registry.ts'
import { trusting } from '../support/trusted.ts'
import { folderOf, OPERATOR } from '../support/workplace.ts'

const NOW = new Date('2026-11-20T12:00:00Z')
const AHEAD = new Date('2046-11-20T12:00:00Z')

test('tokens, sessions, links and pauses that were made there are over', async t => {
  const test = await TestRegistry.open(t)
  const { database } = test.registry
  const there = { ...OPERATOR, at: timestamp(AHEAD) }
  const before = await test.user('ann', { expires: timestamp(NOW, 3600) })
  test.now = AHEAD
  const expires = timestamp(AHEAD, 60)
  const [made, endless] = [await test.token(1, { expires }), await test.token(1)]
  const user = await findUser(database, 'ann')
  assert.ok(user)
  const order = { agent: 'x', now: AHEAD, seconds: 60 }
  const session = await startSession(database, 1, order, there)
  const link = await makeLink(database, user, AHEAD, there)
  const who = async (token: string) =>
    (await test.request('GET', '/api/v1/crates/none/owners', token)).status
  const isGood = async (token: string) => (await who(token)) !== 403
  assert.deepEqual(
    [await isGood(made), await isGood(endless), await isGood(before)],
    [true, true, false],
  )
  const time = (now: Date) => ({ now, rules: test.registry.settings })
  const use = async () => undefined
  assert.ok(await findSession(database, session, time(AHEAD), use))
  assert.ok(await requireLink(database, link, AHEAD))
  const wrong = AHEAD.getTime()
  await writeValue(
    database,
    'pause',
    JSON.stringify({ until: wrong + 60_000, since: wrong, place: null }),
  )

  test.now = NOW
  assert.deepEqual(
    [await isGood(made), await isGood(endless), await isGood(before)],
    [false, true, true],
  )
  assert.equal(await findSession(database, session, time(NOW), use), null)
  assert.deepEqual(await listSessions(database, 1, time(NOW)), [])
  await assert.rejects(requireLink(database, link, NOW), /expired/)
  const uses = await all(database, 'SELECT last_used_at FROM tokens WHERE id = 3')
  assert.deepEqual(uses, [{ last_used_at: timestamp(NOW) }])
  assert.equal(await readPause(database), null)
  await database.transaction(tx => requireUnpaused(tx))
  assert.equal(await value(database, "SELECT value FROM facts WHERE key = 'pause'"), null)
  await writeValue(database, LAST_BACKUP, timestamp(AHEAD))
  assert.match(
    await test.metrics.prometheus.metrics(),
    /^plimsoll_last_backup_timestamp_seconds 0$/m,
  )
})

test('downloads and failed work go on as if those times were not set', async t => {
  const test = await TestRegistry.open(t)
  const { database } = test.registry
  const ann = await test.user('ann')
  assert.equal((await test.publish(ann, { name: 'demo', version: '1.0.0' })).status, 200)
  const release = { name: 'demo' as Name, version: '1.0.0' as Version }
  const count = (now: Date) =>
    database.transaction(tx => addDownloads(tx, [{ release, day: dayOf(now), n: 3 }], now))
  await count(AHEAD)
  await database.transaction(tx => markDueDownloads(tx, AHEAD, 10))
  await count(NOW)
  assert.ok(await hasDueDownloads(database, NOW))
  const { total, days } = (await readDownloads(database, CRATE_ROWS, [1])).get(1) ?? {}
  assert.deepEqual([total, sumUntil(days ?? null, dayOf(NOW))], [6, 3])
  assert.equal(sumUntil((await registryDownloads(database, NOW)).days, dayOf(NOW)), 3)

  const [mark] = marksOf('page', [1])
  assert.ok(mark)
  await setMarks(database, [mark], 1)
  const due = async () => (await dueMarks(database, [{ kind: 'page' }], NOW, 10)).length
  await postponeMark(database, { ...mark, generation: 10 ** 9 }, new Error('x'), NOW)
  assert.equal(await due(), 0)
  await postponeMark(database, { ...mark, generation: 10 ** 9 }, new Error('x'), AHEAD)
  assert.equal(await due(), 1)
})

test('a half-written file of that time is swept', async t => {
  const folder = folderOf(t)
  const [stale, fresh] = [temporaryPath(join(folder, 'a')), temporaryPath(join(folder, 'a'))]
  for (const path of [stale, fresh]) writeFileSync(path, '')
  utimesSync(stale, AHEAD, AHEAD)
  await sweepFolder(folder)
  assert.deepEqual([existsSync(stale), existsSync(fresh)], [false, true])
})

test('a rule that was used there counts as unused, and what was told there leaves the log', async t => {
  const { test, rule, job } = await trusting(t)
  const { database } = test.registry
  await rule()
  await run(database, 'UPDATE trust_rules SET created_at = ?', timestamp(NOW, -90 * 86_400))
  for (const [used, status] of [
    [AHEAD, 400],
    [NOW, 200],
  ] as const) {
    await run(database, 'UPDATE trust_rules SET used_at = ?', timestamp(used))
    assert.equal((await job()).status, status)
  }
  const sql = `INSERT INTO deliveries (webhook, message, type, crate_id, generation, at, data, attempts)
    VALUES ('x', ?, 'x', 1, 1, ?, '{}', 1)`
  for (const at of [NOW, AHEAD]) await run(database, sql, String(at), at.toISOString())
  await pruneDeliveries(database, NOW)
  const left = await all(database, 'SELECT at FROM deliveries')
  assert.deepEqual(left, [{ at: NOW.toISOString() }])
})
