import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type LogFormat, openLog } from '../../../daemon/http/log.ts'
import { logText } from '../../../daemon/http/log-text.ts'
import { issue, Refusal } from '../../../generator/index.ts'
import { TestRegistry } from '../../support/registry.ts'

/** A log of one format, and everything it writes, without the time of text lines. */
function scene(format: LogFormat) {
  const lines: string[] = []
  const write = (line: string) => lines.push(line.replace(/^\d\d:\d\d:\d\d /, ''))
  return { lines, log: openLog('info', { write }, format) }
}

const REQUEST = { method: 'PUT', path: '/api/v1/crates/new', status: 403, ms: 9.4 }

test('a line for people begins with the local time', () => {
  const at = new Date(2026, 10, 20, 15, 9, 8).getTime()
  assert.equal(
    logText(JSON.stringify({ level: 30, time: at, msg: 'request', ...REQUEST })),
    '15:09:08 PUT /api/v1/crates/new 403 9 ms\n',
  )
})

test('people see what was asked by which program, and why it was refused', () => {
  const { lines, log } = scene('text')
  log.info({ ...REQUEST, agent: 'cargo/1.95.0 (abc 2026-01-01)' }, 'request')
  log.info({ ...REQUEST, agent: 'Mozilla/5.0 (X11; Linux) Firefox/140', refused: 'no' }, 'request')
  assert.deepEqual(lines, [
    'PUT /api/v1/crates/new 403 9 ms cargo/1.95.0\n',
    'PUT /api/v1/crates/new 403 9 ms browser, refused: no\n',
  ])
})

test('errors come with their cause; only those of this program with a stack', () => {
  const { lines, log } = scene('text')
  const full = Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' })
  log.error({ err: full }, 'a build failed; trying again')
  log.warn({ err: new Refusal([issue('git_switched_off')]) }, 'there is no git index')
  log.error({ err: new TypeError('x is odd'), id: '7', ...REQUEST }, 'unexpected error')
  log.info({ signal: 'SIGTERM' }, 'stopping (SIGTERM)')
  assert.equal(lines[0], 'error: a build failed; trying again: ENOSPC: no space left\n')
  assert.match(lines[1] ?? '', /^warning: there is no git index: .+\n$/)
  const [first, ...frames] = (lines[2] ?? '').trimEnd().split('\n')
  assert.equal(first, 'error: unexpected error (PUT /api/v1/crates/new, 7): x is odd')
  assert.ok(frames.length > 0 && frames.every(frame => frame.startsWith('    at ')), lines[2])
  assert.equal(lines[3], 'stopping (SIGTERM)\n')
})

test('the time is dim, a refused request yellow and an error red, where there are colors', () => {
  const paint = (color: string, text: string) => (text ? `<${color}>${text}</>` : '')
  const text = (record: object) => logText(JSON.stringify({ time: 0, ...record }), paint)
  const time = /^<dim>\d\d:\d\d:\d\d<\/> /
  const line = text({ level: 30, msg: 'request', ...REQUEST })
  assert.match(line, time)
  assert.match(line, / PUT \/api\/v1\/crates\/new <yellow>403<\/> 9 ms\n$/)
  assert.match(text({ level: 50, msg: 'x' }), /<red>error: <\/>x\n$/)
  assert.match(text({ level: 40, msg: 'x' }), /<yellow>warning: <\/>x\n$/)
  assert.doesNotMatch(text({ level: 30, msg: 'request', ...REQUEST, status: 200 }), /yellow|red/)
})

/** Escape sequences of 7 and 8 bits, line breaks, marks that turn text around, a tag character. */
const HOSTILE = '\x1b[2J\x9b31m\r\n00:00:00 GET / 200\u202e\u2028\u{e0041}'

for (const format of ['text', 'json'] as const) {
  test(`no text of a stranger reaches a terminal raw, or a second line: ${format}`, () => {
    const { lines, log } = scene(format)
    const request = { ...REQUEST, method: `A${HOSTILE}`, path: `/${HOSTILE}`, agent: HOSTILE }
    log.info({ ...request, refused: HOSTILE }, 'request')
    const error = new Error(HOSTILE)
    error.stack = `${HOSTILE}\n    at ${HOSTILE}`
    log.error({ err: error, ...request }, `failed: ${HOSTILE}`)
    for (const line of lines) {
      assert.match(line, /^[^\n]+(?:\n {4}at [^\n]+)*\n$/)
      assert.doesNotMatch(line.replaceAll('\n', ''), /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
    }
    assert.equal(lines.length, 2)
    if (format === 'json') assert.equal(JSON.parse(lines[0] ?? '').agent, HOSTILE)
  })
}

test('the line of a refused request has the reason, in JSON as well', async t => {
  const test = await TestRegistry.open(t, { logLevel: 'info' })
  await test.publish('plim_unknown', { name: 'demo', version: '1.0.0' })
  const { status, refused } = JSON.parse(test.logged[0] ?? '{}') as Record<string, unknown>
  assert.equal(status, 403)
  assert.match(String(refused), /^this token is not valid: /)
})
