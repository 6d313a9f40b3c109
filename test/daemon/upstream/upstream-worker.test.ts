import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { UpstreamWorker } from '../../../daemon/upstream/upstream-worker.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { MadeUpUpstream } from '../../support/made-up-upstream.ts'
import { root } from '../../support/plimsoll.ts'
import { TestRegistry } from '../../support/registry.ts'

test('what is kept of an upstream is counted, for a metric and an alert about it', async t => {
  const made = await MadeUpUpstream.start(new Cleanup(t))
  const env = { PLIMSOLL_UPSTREAM_UP_INDEX: made.index }
  const registry = await TestRegistry.open(t, { env })
  const worker = new UpstreamWorker(registry.registry, registry.upstreams)
  t.after(() => worker.close())
  const kept = async () => {
    const page = await (await registry.metrics.page()).text()
    return /^plimsoll_upstream_kept_bytes\{upstream="up"\} (\d+)$/m.exec(page)?.[1]
  }
  assert.equal(await kept(), undefined)
  await worker.look()
  assert.equal(await kept(), '0')
  let bytes = 0
  for (const name of ['demo', 'other']) {
    const { cksum } = JSON.parse(made.publish({ name }))
    const answer = await registry.app.request(`/upstream/up/crates/${name}-1.0.0-${cksum}.crate`)
    bytes += (await answer.arrayBuffer()).byteLength
  }
  await worker.look()
  assert.equal(await kept(), String(bytes))
  const rules = readFileSync(join(root, 'deploy', 'prometheus', 'plimsoll.rules.yaml'), 'utf8')
  assert.match(rules, /expr: plimsoll_upstream_kept_bytes > /)
})
