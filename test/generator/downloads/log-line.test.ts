import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dateOf } from '../../../core/day-counts.ts'
import { type LogFormat, LogReader } from '../../../generator/downloads/log-line.ts'

const PATH = '/crates/demo/demo-1.0.0.crate'

/** A line of each format as its makers document it; all of the same request. */
const LINES: readonly (readonly [format: LogFormat, line: string, before?: string])[] = [
  [
    'nginx',
    `203.0.113.9 - - [20/Nov/2026:23:59:59 +0000] "GET ${PATH} HTTP/1.1" 200 4821 "-" "cargo/1.95.0 (f00 2026-01-01)"`,
  ],
  ['common', `203.0.113.9 - frank [21/Nov/2026:01:30:00 +0200] "GET ${PATH} HTTP/1.0" 200 2326`],
  [
    'caddy',
    `{"level":"info","ts":1795176000.5,"logger":"http.log.access.log0","msg":"handled request","request":{"remote_ip":"203.0.113.9","proto":"HTTP/2.0","method":"GET","host":"crates.example.com","uri":"${PATH}","headers":{"User-Agent":["cargo/1.95.0"]}},"bytes_read":0,"duration":0.000929675,"size":4821,"status":200}`,
  ],
  [
    'cloudfront',
    `2026-11-20\t19:34:06\tLAX1\t4821\t203.0.113.9\tGET\td111.cloudfront.net\t${PATH}\t200\t-\tcargo/1.95.0\t-\t-\tHit\tSOX4xwn4XV6Q4rgb7XiVGOHms_BGlTAC4KyHmureZmBNrjGdRLiNIQ==`,
  ],
  [
    'cloudfront',
    `${PATH}\t200\tGET\t2026-11-20\t19:34:06`,
    '#Fields: cs-uri-stem sc-status cs-method date time',
  ],
]

for (const [at, [format, line, before]] of LINES.entries())
  test(`a line of ${format} (${at})`, () => {
    for (const reader of [new LogReader(format), new LogReader('auto')]) {
      if (before !== undefined) assert.equal(reader.read(before), 'comment')
      const request = reader.read(line)
      assert.ok(request !== null && request !== 'comment', line)
      const { day, target, ...rest } = request
      assert.deepEqual(rest, { method: 'GET', status: 200 })
      assert.equal(target, PATH)
      assert.equal(dateOf(day), '2026-11-20')
    }
  })

test('what pages load to show sources is skipped, in every format with a referrer', () => {
  const by = 'https://crates.example.com/assets/37cb/browser/sources/archive.js'
  const lines = LINES.map(([, line]) => line.replace(/"-"|(?<="User-Agent":\[)|\t-\t/, `"${by}"`))
  for (const line of lines.filter(line => line.includes(by)))
    assert.equal(new LogReader('auto').read(line), 'comment', line)
  assert.equal(lines.filter(line => line.includes(by)).length, 3)
})

const BROKEN: readonly string[] = [
  'hello',
  '203.0.113.9 - - [20/Foo/2026:23:59:59 +0000] "GET / HTTP/1.1" 200 1',
  '203.0.113.9 - - [20/Nov/2026:23:59:59 +0000] "\\x16\\x03\\x01" 400 150',
  '203.0.113.9 - - [20/Nov/2026:23:59:59 +0000] "GET / HTTP/1.1" abc 1',
  '{"method":"GET"',
  '{}',
  '{"request":null,"status":{}}',
  '{"__proto__":{"request":{"method":"GET","uri":"/"}},"status":200,"ts":1}',
  '{"request":{"method":"GET","uri":"/"},"status":1e300,"ts":1}',
  '{"request":{"method":"GET","uri":"/"},"status":200,"ts":"never"}',
  '{"request":{"method":"GET","uri":7},"status":200,"ts":1}',
  '{"request":{"method":"GET","uri":"/"},"status":200,"ts":1e40}',
  '{"request":{"method":"GET","uri":"/"},"status":200,"ts":-86400}',
  'a\tb\tc',
  '\t\t-\t\t',
]
for (const line of BROKEN)
  test(`not understood: ${line.slice(0, 40)}`, () => {
    assert.equal(new LogReader('auto').read(line), null)
  })

test('a format takes only its own lines', () => {
  const nginx = LINES[0]?.[1] ?? ''
  assert.equal(new LogReader('caddy').read(nginx), null)
  assert.equal(new LogReader('nginx').read(LINES[2]?.[1] ?? ''), null)
})

test('a long hostile line takes time in proportion to its length', () => {
  const reader = new LogReader('auto')
  for (const part of [
    '[20/Nov/2026:23:59:59 +0000] "GET ',
    '[',
    '"',
    '[20/Nov/2026:23:59:59 +0000] "A',
  ]) {
    const line = part.repeat(Math.ceil(65_536 / part.length))
    assert.equal(reader.read(line), null)
  }
  // In quadratic time, this would take minutes.
  const unending = `[20/Nov/2026:23:59:59 +0000] "GET ${'/'.repeat(400_000)}`
  assert.equal(reader.read(unending), null)
})
