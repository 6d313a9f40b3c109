// Mirrors generator/advisories/read.ts
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { readAdvisories } from '../../../generator/advisories/read.ts'
import { rustSecFile } from '../../support/advisories.ts'
import { tar } from '../../support/crate-builder.ts'
import { frugallyInTheEnd } from '../../support/processor-time.ts'
import { folderOf } from '../../support/workplace.ts'

const MOST = 50_000

test('50,000 files are read within a minute of processor time while others have the event loop; more are refused', async t => {
  const folder = folderOf(t)
  const members = Array.from({ length: MOST + 1 }, (_, at) => ({
    path: `db/${at}.md`,
    data: rustSecFile({ id: `MANY-2026-${10_000 + at}`, patched: ['>= 1.2.3'] }),
  }))
  const archive = (count: number) => {
    const path = join(folder, `${count}.tar.gz`)
    writeFileSync(path, gzipSync(tar(members.slice(0, count)), { level: 1 }))
    return path
  }
  const [good, bad] = [archive(MOST), archive(MOST + 1)]
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  const { kept, issues } = await frugallyInTheEnd(
    () => readAdvisories([good], 'given'),
    'reading 50,000 files',
    60_000,
  )
  assert.deepEqual([kept.length, issues], [MOST, []])
  assert.ok(delay.percentile(99) < 100e6, `${delay.percentile(99)} ns`)
  await assert.rejects(readAdvisories([bad], 'given'), /more than 50000 files/)
})
