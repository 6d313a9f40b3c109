import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { FileCache } from '../../../daemon/files/file-cache.ts'

/** Files that have rested for a while, whose content is their letter. */
function folder(t: TestContext): (letter: string, size: number) => string {
  const dir = mkdtempSync(join(tmpdir(), 'plimsoll-memory-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 60_000 })
  return (letter, size) => {
    const path = join(dir, letter)
    writeFileSync(path, letter.repeat(size))
    return path
  }
}

test('memory stays below its bound, and gives up first what was not asked for the longest', t => {
  const file = folder(t)
  const memory = new FileCache(10_000)
  const paths = ['a', 'b', 'c', 'd'].map(letter => file(letter, 2000))
  const load = (path: string) =>
    memory.find(path, statSync(path)) ?? memory.load(path, statSync(path), false)
  for (const path of paths) load(path)
  assert.ok(memory.size > 8000 && memory.size <= 10_000, String(memory.size))
  const [a = '', b = '', c = ''] = paths
  load(a)
  load(file('e', 2000))
  assert.ok(memory.size <= 10_000, String(memory.size))
  assert.equal(memory.find(b, statSync(b)), null, 'b was not asked for the longest')
  assert.equal(memory.find(a, statSync(a))?.bytes[0], 97)
  assert.equal(memory.find(c, statSync(c))?.bytes[0], 99)
})

test('a file beyond a quarter of the bound is not kept', t => {
  const file = folder(t)
  const memory = new FileCache(10_000)
  const path = file('a', 3000)
  assert.equal(memory.load(path, statSync(path), false).bytes.length, 3000)
  assert.equal(memory.size, 0)
})

test('memory does not grow with the number of loads of one file, nor with files that only have tags', async t => {
  const file = folder(t)
  const memory = new FileCache(10_000)
  const path = file('a', 1000)
  memory.load(path, statSync(path), false)
  const once = memory.size
  for (let i = 0; i < 10; i++) memory.load(path, statSync(path), false)
  assert.equal(memory.size, once)
  for (let i = 0; i < 100; i++) {
    const other = file(`x${i}`, 1)
    await memory.tag(other, statSync(other))
  }
  assert.ok(memory.size <= 10_000, String(memory.size))
})

test('the compressed copy counts, too', t => {
  const file = folder(t)
  const [plain, both] = [new FileCache(100_000), new FileCache(100_000)]
  const path = file('a', 2000)
  plain.load(path, statSync(path), false)
  const { gzip } = both.load(path, statSync(path), true)
  assert.equal(both.size - plain.size, gzip?.length)
})

test('what has just been written is read again, what has rested is not', t => {
  const file = folder(t)
  const memory = new FileCache(100_000)
  const path = file('a', 10)
  memory.load(path, statSync(path), false)
  assert.notEqual(memory.find(path, statSync(path)), null)
  const young = new Date(Date.now() - 1000)
  utimesSync(path, young, young)
  memory.load(path, statSync(path), false)
  assert.equal(memory.find(path, statSync(path)), null)
})

test('a file that cannot be read fails for its caller, and can be asked for again', async t => {
  const file = folder(t)
  const memory = new FileCache(100_000)
  const path = file('a', 5000)
  const stats = statSync(path)
  rmSync(path)
  await assert.rejects(memory.loadLater(path, stats, true), { code: 'ENOENT' })
  await assert.rejects(memory.tag(path, stats), { code: 'ENOENT' })
  file('a', 5000)
  const [first, second] = [1, 2].map(() => memory.loadLater(path, stats, true))
  assert.equal((await first)?.bytes.length, 5000)
  assert.equal(await first, await second, 'read once for all who ask at the same time')
})
