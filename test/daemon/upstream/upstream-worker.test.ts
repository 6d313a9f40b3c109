import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { timestamp } from '../../../core/timestamp.ts'
import { openLog } from '../../../daemon/http/log.ts'
import { UpstreamWorker } from '../../../daemon/upstream/upstream-worker.ts'
import { temporaryPath } from '../../../generator/places/disk/steps.ts'
import { listFailures } from '../../../generator/records/values.ts'
import { verifyUpstreams } from '../../../generator/verify/upstream.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { MadeUpUpstream } from '../../support/made-up-upstream.ts'
import { root } from '../../support/plimsoll.ts'
import { TestRegistry } from '../../support/registry.ts'
import { until } from '../../support/until.ts'

test('what is kept of an upstream is counted, for a metric and an alert about it; a turn is logged', async t => {
  const made = await MadeUpUpstream.start(new Cleanup(t))
  const env = { PLIMSOLL_UPSTREAM_UP_INDEX: made.index, PLIMSOLL_UPSTREAM_UP_DENY: 'demoo' }
  const registry = await TestRegistry.open(t, { env })
  const lines: string[] = []
  const log = openLog('info', { write: line => lines.push(line) })
  const worker = new UpstreamWorker(registry.registry, registry.upstreams, log)
  t.after(() => worker.close())
  const kept = async () => {
    const page = await (await registry.metrics.page()).text()
    return /^plimsoll_upstream_kept_bytes\{upstream="up"\} (\d+)$/m.exec(page)?.[1]
  }
  assert.equal(await kept(), undefined)
  await worker.look()
  assert.equal(await kept(), '0')
  const page = await (await registry.request('GET', '/upstream/up/')).text()
  assert.match(page, /Rules that match no version known here.*<code>deny: demoo<\/code>/s)
  let bytes = 0
  for (const name of ['demo', 'other']) {
    const { cksum } = JSON.parse(made.publish({ name }))
    const answer = await registry.app.request(`/upstream/up/crates/${name}-1.0.0-${cksum}.crate`)
    bytes += (await answer.arrayBuffer()).byteLength
  }
  const [source] = registry.upstreams.sources
  for await (const { path, size } of source?.place.list('lines/') ?? []) {
    assert.match(path, /\/(?:demo|other)$/)
    bytes += size
  }
  await worker.look()
  assert.equal(await kept(), String(bytes))
  const ask = (name: string) => registry.request('GET', `/upstream/up/index/de/mo/${name}`)
  made.fault = () => ({ status: 503 })
  for (const name of ['demo1', 'demo2']) assert.equal((await ask(name)).status, 503)
  const failures = async () => (await listFailures(registry.registry.database)).at(-1)
  const why = `${made.index.slice('sparse+'.length)}de/mo/demo1: HTTP status 503`
  const away = { what: 'requests to the upstream up', at: timestamp(registry.now), why }
  await until(async () => (await failures()) !== undefined, 'nothing is recorded')
  assert.deepEqual(await failures(), away)
  made.fault = () => null
  registry.now = new Date(registry.now.getTime() + 11_000)
  for (const name of ['demo3', 'demo4']) assert.equal((await ask(name)).status, 404)
  await worker.look()
  assert.deepEqual(await failures(), { ...away, mended: timestamp(registry.now) })
  const said = lines.map(line => JSON.parse(line)).map(({ level, reason }) => [level, reason])
  assert.deepEqual(said, [
    [40, why],
    [30, undefined],
  ])
  const rules = readFileSync(join(root, 'deploy', 'prometheus', 'plimsoll.rules.yaml'), 'utf8')
  assert.match(rules, /expr: plimsoll_upstream_kept_bytes > /)
})

test('an answer that cannot be used is no turn for the better, and another reason is logged', async t => {
  const made = await MadeUpUpstream.start(new Cleanup(t))
  const env = { PLIMSOLL_UPSTREAM_UP_INDEX: made.index }
  const registry = await TestRegistry.open(t, { env })
  const lines: string[] = []
  const log = openLog('info', { write: line => lines.push(line) })
  const worker = new UpstreamWorker(registry.registry, registry.upstreams, log)
  t.after(() => worker.close())
  const ask = async (name: string) =>
    assert.equal((await registry.request('GET', `/upstream/up/index/de/mo/${name}`)).status, 503)
  made.fault = () => ({ status: 200, body: '<html></html>' })
  for (const name of ['demo1', 'demo2']) await ask(name)
  made.fault = () => ({ status: 401 })
  for (const name of ['demo3', 'demo4']) await ask(name)
  const said = lines.map(line => String(JSON.parse(line).reason).replace(/^http:\S+: /, ''))
  assert.deepEqual(said, ['for demo1 it sends a file that ends within a line', 'HTTP status 401'])
  const [source] = registry.upstreams.sources
  assert.equal(source?.counts.answered, null)
})

test('half-written files of an upstream are named by verify, and swept when they are old', async t => {
  const made = await MadeUpUpstream.start(new Cleanup(t))
  const env = { PLIMSOLL_UPSTREAM_UP_INDEX: made.index }
  const { registry, upstreams, log, dir } = await TestRegistry.open(t, { env })
  const worker = new UpstreamWorker(registry, upstreams, log)
  t.after(() => worker.close())
  const folder = join(dir, 'upstream/up/known/de/mo')
  mkdirSync(folder, { recursive: true })
  const [stale, fresh] = [temporaryPath(join(folder, 'x')), temporaryPath(join(folder, 'x'))]
  for (const path of [stale, fresh]) writeFileSync(path, '')
  const before = new Date(Date.now() - 7_200_000)
  utimesSync(stale, before, before)
  const alarms: string[] = []
  for await (const { where, what } of verifyUpstreams(upstreams.sources, {
    repair: false,
    served: false,
  }))
    alarms.push(`${where}: ${what}`)
  assert.deepEqual(alarms, [
    `upstream up, ${stale.slice(join(dir, 'upstream/up/').length)}: is half-written`,
  ])
  await worker.look()
  assert.deepEqual([existsSync(stale), existsSync(fresh)], [false, true])
})
