// Mirrors scripts/test-files.mjs
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { run } from './support/command.ts'
import { root } from './support/plimsoll.ts'
import { folderOf } from './support/workplace.ts'

const BURNS = `import { test } from 'node:test'
test('it takes long', () => {
  while (process.cpuUsage().user < 300_000) 'x'.repeat(1_000_000).replaceAll('x', 'yz')
})
`

test('a run fails a file that takes long, alone or beside others, unless its name says so', async t => {
  const folder = folderOf(t)
  mkdirSync(join(folder, 'dist', 'test'), { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  for (const name of ['a', 'b.main', 'c.slow'])
    writeFileSync(join(folder, 'dist', 'test', `${name}.test.js`), BURNS)
  const scripts = join(root, 'scripts')
  const preload = pathToFileURL(join(scripts, 'processor-time.mjs')).href
  const { NODE_TEST_CONTEXT: _, ...host } = process.env
  const env = { ...host, TEST_SHORT_MS: '150' }
  const runs = (...names: string[]) => {
    const files = names.map(name => join('dist', 'test', `${name}.test.js`)).join()
    const args = [join(scripts, 'test-files.mjs'), '1', '60000', 'times', files]
    return run(process.execPath, [`--import=${preload}`, ...args], { cwd: folder, env })
  }
  for (const names of [['a'], ['a', 'b.main']]) {
    const { code, stderr } = await runs(...names)
    assert.equal(code, 1, stderr)
    assert.match(stderr, /^✖ test\/a\.test\.ts should do less, or be …/m)
  }
  assert.equal((await runs('b.main', 'c.slow')).code, 0)
})
