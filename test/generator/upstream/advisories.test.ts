// Mirrors generator/upstream/tree.ts.
import assert from 'node:assert/strict'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { parseName } from '../../../core/name.ts'
import { sentenceOf } from '../../../core/upstream/explain.ts'
import { parseVersion } from '../../../core/version.ts'
import { readUpdate, takeAdvisories } from '../../../generator/advisories/update.ts'
import { operatorChange } from '../../../generator/records/change.ts'
import { decideVersion } from '../../../generator/upstream/decisions.ts'
import { newlyDenied } from '../../../generator/upstream/tree.ts'
import { rustSecFile } from '../../support/advisories.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { MadeUpUpstream } from '../../support/made-up-upstream.ts'
import { TestRegistry } from '../../support/registry.ts'

const CHANGE = operatorChange('2026-11-20T12:00:00Z')

async function start(t: TestContext, denies: string) {
  const made = await MadeUpUpstream.start(new Cleanup(t))
  const app = await TestRegistry.open(t, {
    env: { PLIMSOLL_UPSTREAM_UP_INDEX: made.index, PLIMSOLL_UPSTREAM_UP_DENY_ADVISORIES: denies },
  })
  const up = app.upstreams.byName.get('up') ?? assert.fail()
  const lines = ['1.0.0', '1.1.0'].map(version => made.publish({ name: 'Demo_x', version }))
  const folder = join(app.dir, 'advisories')
  mkdirSync(folder)
  const file = rustSecFile({
    ...{ id: 'ACME-2026-0001', name: 'demo-x', patched: ['>= 1.1.0'] },
    more: `source = "${made.index}"`,
  })
  /** The versions that are shown as yanked, the ETag, and what a download of 1.0.0 answers. */
  const shown = async () => {
    const answer = await app.app.request('/upstream/up/index/de/mo/demo_x')
    const yanked = (await answer.text())
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line).yanked)
    const { cksum } = JSON.parse(lines[0] ?? '')
    const download = await app.app.request(`/upstream/up/crates/Demo_x-1.0.0-${cksum}.crate`)
    const body = Buffer.from(await download.arrayBuffer()).toString('latin1')
    return { yanked, etag: answer.headers.get('etag'), status: download.status, body }
  }
  const explained = async () => ((await up.explain(parseName('Demo_x'))) ?? []).map(sentenceOf)
  const take = async (isThere: boolean) => {
    if (isThere) writeFileSync(join(folder, 'a.md'), file)
    else rmSync(join(folder, 'a.md'))
    const denied = await newlyDenied(up, (await readUpdate(app.registry, app.dir, null)).changes)
    assert.deepEqual(await takeAdvisories(app.registry, CHANGE), [])
    return denied
  }
  return { app, shown, explained, take }
}

test('what an advisory covers is denied from the next answer on, until it is allowed or gone', async t => {
  const { app, shown, explained, take } = await start(t, 'vulnerable')
  const before = await shown()
  assert.deepEqual([before.yanked, before.status], [[false, false], 200])
  assert.deepEqual(await take(true), ['Demo_x@1.0.0 of up (deny_advisories: ACME-2026-0001)'])
  assert.deepEqual(await take(true), [])
  const denied = await shown()
  assert.deepEqual([denied.yanked, denied.status], [[true, false], 403])
  assert.notEqual(denied.etag, before.etag)
  assert.equal(
    JSON.parse(denied.body).errors[0].detail,
    '`Demo_x` 1.0.0 is denied here by `upstream.up.deny_advisories: ACME-2026-0001`; ask the operator of this registry',
  )
  assert.equal(
    (await explained())[0],
    "Demo_x@1.0.0 is shown as yanked and not downloaded (upstream.up.deny_advisories: ACME-2026-0001); `plimsoll upstream allow Demo_x@1.0.0 --upstream up` or an administrator's page shows it at once; covered by ACME-2026-0001: Demo has a hole",
  )
  const decided = { upstream: 'up', name: parseName('Demo_x'), version: parseVersion('1.0.0') }
  await decideVersion(app.registry.database, CHANGE, decided, true)
  assert.deepEqual(await shown(), before)
  assert.equal(
    (await explained())[0],
    'Demo_x@1.0.0 is shown; covered by ACME-2026-0001: Demo has a hole',
  )
  await decideVersion(app.registry.database, CHANGE, decided, false)
  assert.deepEqual(await shown(), denied)
  assert.deepEqual(await take(false), [])
  assert.deepEqual(await shown(), before)
})

test('with "warn", only explanations name an advisory; with "off", nothing does', async t => {
  for (const denies of ['warn', 'off']) {
    const { shown, explained, take } = await start(t, denies)
    const before = await shown()
    assert.deepEqual(await take(true), [])
    assert.deepEqual(await shown(), before)
    const more = denies === 'warn' ? '; covered by ACME-2026-0001: Demo has a hole' : ''
    assert.deepEqual(await explained(), [`Demo_x@1.0.0 is shown${more}`, 'Demo_x@1.1.0 is shown'])
  }
})
