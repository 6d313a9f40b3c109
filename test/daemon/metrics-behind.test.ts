import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Cleanup } from '../support/cleanup.ts'
import { plimsoll, serve } from '../support/plimsoll.ts'
import { addCrate, folderOf, reopen } from '../support/workplace.ts'

test('a crate that a daemon cannot render shows in /metrics and in status', async t => {
  const dir = join(folderOf(t), 'registry')
  await plimsoll(folderOf(t), ['init', '--dir', dir])
  await addCrate(await reopen(t, dir), { name: 'lost', version: '1.0.0' })
  rmSync(join(dir, 'crates'), { recursive: true })
  const daemon = await serve(new Cleanup(t), dir)
  const metrics = await (await fetch(`${daemon.url}/metrics`)).text()
  const failures = /^plimsoll_background_failures_total\{what="build"\} (\d+)$/m.exec(metrics)?.[1]
  assert.ok(Number(failures) > 0, metrics)
  assert.match(metrics, /^plimsoll_background_failures_total\{what="git index"\} 0$/m)
  const status = await plimsoll(dir, ['status', '--dir', dir])
  assert.match(status.stdout, /^error {5}\S+ build: the \.crate of `lost` 1\.0\.0 is missing/m)
})
