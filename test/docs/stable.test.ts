// Mirrors docs/build/stable.md
import assert from 'node:assert/strict'
import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Cleanup } from '../support/cleanup.ts'
import { expectCode } from '../support/command.ts'
import { root } from '../support/plimsoll.ts'
import { plimsollHere, serveHere } from '../support/program.ts'
import { scratch } from '../support/scratch.ts'

test('docs/build/stable.md promises every metric of the daemon, and no other', async t => {
  const cleanup = new Cleanup(t)
  const dir = join(scratch(cleanup), 'registry')
  expectCode('init', await plimsollHere(['init', '--dir', dir]), 0)
  const upstream = '\n[upstream.other]\nindex = "sparse+http://127.0.0.1:1/"\n'
  appendFileSync(join(dir, 'plimsoll.toml'), upstream)
  const { url } = await serveHere(cleanup, dir)
  const metrics = await (await fetch(`${url}/metrics`)).text()
  const names = (text: string, pattern: RegExp) =>
    [...text.matchAll(pattern)].map(([, name]) => name).sort()
  assert.deepEqual(
    names(readFileSync(join(root, 'docs', 'build', 'stable.md'), 'utf8'), /^\| `(plimsoll_\w+)/gm),
    names(metrics, /^# TYPE (plimsoll_\w+)/gm),
  )
})
