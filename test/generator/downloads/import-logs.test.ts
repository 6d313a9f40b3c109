import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { appendFileSync, readdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { all, value } from '../../../generator/database/statement.ts'
import { importLog } from '../../../generator/downloads/import-logs.ts'
import { releaseFinder } from '../../../generator/downloads/release-path.ts'
import { TestRegistry } from '../../support/registry.ts'
import { until } from '../../support/until.ts'

const PATH = '/crates/demo/demo-1.0.0.crate'

/** A line of nginx; `seconds` tells lines apart. */
function line(seconds: number, path = PATH, status = 200, method = 'GET', date = '20/Nov/2026') {
  const clock = new Date(seconds * 1000).toISOString().slice(11, 19)
  return `203.0.113.9 - - [${date}:${clock} +0000] "${method} ${path} HTTP/1.1" ${status} 10 "-" "cargo"\n`
}

async function start(t: TestContext) {
  const registry = await TestRegistry.open(t, { env: { PLIMSOLL_DOWNLOADS_COUNT: 'imported' } })
  await registry.publish(await registry.user('alice'), { name: 'demo', version: '1.0.0' })
  const { database, urls } = registry.registry
  const file = (name: string, content: string | Uint8Array) => {
    const path = join(registry.dir, name)
    writeFileSync(path, content)
    return path
  }
  const read = (path: string) =>
    importLog(registry.registry, path, { format: 'auto', find: releaseFinder(urls) })
  const total = async () =>
    (await value<number>(database, 'SELECT total FROM crate_downloads')) ?? 0
  return { registry, file, read, total, database }
}

test('counts successful downloads of versions that exist, and tells what else there was', async t => {
  const { registry, file, read, total } = await start(t)
  const content = [
    line(1),
    line(2, '/api/v1/crates/demo/1.0.0/download'),
    line(3, PATH, 206),
    line(4, PATH, 304),
    line(5, PATH, 200, 'HEAD'),
    line(6, '/index/de/mo/demo'),
    line(7, '/crates/demo/demo-9.0.0.crate'),
    line(8, PATH, 200, 'GET', '20/Nov/1999'),
    line(8, PATH, 200, 'GET', '20/Nov/2999'),
    'hello \u001b[31m\n',
    `${'x'.repeat(300_000)}\n`,
    '\n',
    line(9),
  ].join('')
  const sums = await read(file('access.log', content))
  const { examples, ...counts } = sums
  const expected = { lines: 13, downloads: 3, others: 4, unknown: 1, bad: 4, known: 0 }
  assert.deepEqual(counts, { ...expected, isCopy: false, unfinished: false })
  const told = examples.map(({ line, text }) => `${line} ${text.slice(0, 11)}`)
  const stranger = '203.0.113.9'
  assert.deepEqual(told, [`8 ${stranger}`, `9 ${stranger}`, '10 hello ?[31m', '11 (too long)'])
  assert.equal(await total(), 3)
  // Nothing about who it was.
  const rows = await all(registry.registry.database, 'SELECT * FROM imported_logs')
  assert.doesNotMatch(JSON.stringify(rows), /203\.0\.113|cargo/)
})

test('a log that grows, is moved and is packed counts each line once', async t => {
  const { file, read, total } = await start(t)
  const path = file('access.log', line(1) + line(2))
  await read(path)
  assert.equal((await read(path)).downloads, 0)
  appendFileSync(path, line(3))
  assert.equal((await read(path)).downloads, 1)
  appendFileSync(path, line(4).slice(0, 60))
  const sums = await read(path)
  assert.deepEqual([sums.downloads, sums.bad, sums.unfinished], [0, 0, true])
  const whole = [1, 2, 3, 4, 5].map(seconds => line(seconds)).join('')
  assert.equal((await read(file('access.log.1', whole))).downloads, 2)
  assert.equal((await read(file('access.log.2.gz', gzipSync(whole)))).downloads, 0)
  assert.equal((await read(file('copy.log', line(1) + line(2)))).isCopy, true)
  assert.equal(await total(), 5)
})

test('logs that begin alike are different logs', async t => {
  const { file, read, total } = await start(t)
  await read(file('a.log', line(1) + line(2)))
  await read(file('b.log', line(1) + line(3) + line(4)))
  assert.equal(await total(), 5)
})

test('a packed log has a last line without an end', async t => {
  const { file, read } = await start(t)
  const path = file('access.gz', gzipSync((line(1) + line(2)).trimEnd()))
  assert.equal((await read(path)).downloads, 2)
  assert.equal((await read(path)).downloads, 0)
})

test('a gzip bomb and a line without an end are read no further than their budget', async t => {
  const { file, read, total } = await start(t)
  const lines = gzipSync(line(1) + `${'x'.repeat(1e6)}\n`.repeat(60))
  const bomb = /bomb.gz unpacks to more than 200 times its size, as a gzip bomb does/
  await assert.rejects(read(file('bomb.gz', lines)), bomb)
  assert.equal(await total(), 0)
  const endless = file('endless.log', line(1))
  truncateSync(endless, 1024 ** 4)
  await assert.rejects(read(endless), /endless.log has a line of more than 64 MiB/)
  const alike = gzipSync(line(1).repeat(1000))
  assert.equal((await read(file('alike.gz', alike))).downloads, 1000)
})

test('no packed log stays open', async t => {
  const { file, read } = await start(t)
  const many = randomBytes(1_000_000).toString('hex')
  const path = file('access.gz', gzipSync(line(1) + many))
  const descriptors = () => readdirSync('/proc/self/fd').length
  const before = descriptors()
  for (let times = 0; times < 10; times++) await read(path)
  await until(
    () => descriptors() < before + 5,
    () => `${before} descriptors became ${descriptors()}`,
    5000,
  )
})

test('comments do not tell logs apart, and say what the columns are', async t => {
  const { file, read, total } = await start(t)
  const head = '#Version: 1.0\n#Fields: date time cs-method sc-status cs-uri-stem\n'
  const row = (seconds: number) => `2026-11-20\t10:00:0${seconds}\tGET\t200\t${PATH}\n`
  for (const seconds of [1, 2, 1]) await read(file(`E${seconds}.gz`, gzipSync(head + row(seconds))))
  assert.equal(await total(), 2)
  const path = file('E1', head + row(1) + row(3))
  assert.equal((await read(path)).downloads, 1)
  assert.equal((await read(file('empty', head))).lines, 0)
  assert.equal((await read(file('nothing', ''))).lines, 0)
})

test('many lines come in order, whatever the size of what is read at once', async t => {
  const { file, read, total, database } = await start(t)
  const many = Array.from({ length: 20_000 }, (_, at) => line(at)).join('')
  const path = file('many.log', many)
  assert.equal((await read(path)).downloads, 20_000)
  appendFileSync(path, line(1) + line(2))
  assert.equal((await read(path)).downloads, 2)
  assert.equal(await total(), 20_002)
  assert.equal(await value(database, 'SELECT count(*) FROM imported_logs'), 1)
})

test('an import that ends in the middle goes on there', async t => {
  const { file, read, total } = await start(t)
  // More versions than one transaction takes, none of which exists, then one that does.
  const lines = Array.from({ length: 30_000 }, (_, at) =>
    line(at, at % 3 === 0 ? PATH : `/crates/none/none-0.0.${at}.crate`),
  ).join('')
  const broken = gzipSync(lines)
  const cut = file('cut.gz', broken.subarray(0, broken.byteLength - 20_000))
  await assert.rejects(read(cut), /unexpected end of file/)
  const before = await total()
  assert.ok(before > 0 && before < 10_000, String(before))
  const sums = await read(file('whole.gz', broken))
  assert.ok(sums.known > 0)
  assert.equal(await total(), 10_000)
})
