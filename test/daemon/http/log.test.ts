import assert from 'node:assert/strict'
import { test } from 'node:test'
import { issue, Refusal } from '../../../core/error/error.ts'
import { type LogFormat, logFailure, openLog } from '../../../daemon/http/log.ts'
import { logText } from '../../../daemon/http/log-text.ts'
import { TestRegistry } from '../../support/registry.ts'
import { loggedIn } from '../../support/visitor.ts'

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

test('people see who asked from where for which version', () => {
  const { lines, log } = scene('text')
  const who = { user: 'alice', address: '192.0.2.1' }
  log.info({ ...REQUEST, crate: 'demo', version: '1.0.0', ...who }, 'request')
  log.warn({ ...REQUEST, crate: 'demo', address: who.address, refused: 'no' }, 'request')
  log.info({ ...REQUEST, ...who }, 'request')
  assert.deepEqual(lines, [
    'PUT /api/v1/crates/new 403 9 ms, demo 1.0.0, by alice from 192.0.2.1\n',
    'PUT /api/v1/crates/new 403 9 ms, demo, from 192.0.2.1, refused: no\n',
    'PUT /api/v1/crates/new 403 9 ms, by alice from 192.0.2.1\n',
  ])
})

test('what has to be expected is a warning with its cause; only other errors have a stack', () => {
  const { lines, log } = scene('text')
  const full = Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' })
  logFailure(log, full, 'a build failed; trying again')
  logFailure(
    log,
    new Refusal([issue('git_switched_off')], { cause: full }),
    'there is no git index',
  )
  const odd = Object.assign(new TypeError('x is odd'), { code: 'ERR_INVALID_ARG_TYPE' })
  logFailure(log, odd, 'unexpected error', { id: '7', ...REQUEST })
  log.info({ signal: 'SIGTERM' }, 'stopping (SIGTERM)')
  assert.match(
    lines[0] ?? '',
    /^warning: a build failed; trying again: the disk .* is full: ENOSPC: no space left; .*\n$/,
  )
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

test('in JSON, too, a stack belongs to errors that nobody expected', () => {
  const { lines, log } = scene('json')
  const cause = new Error('EIO: i/o error')
  logFailure(log, new Refusal([issue('git_switched_off')], { cause }), 'there is no git index')
  logFailure(log, Object.assign(cause, { code: 'EIO' }), 'a build failed')
  logFailure(log, new TypeError('x is odd'), 'a build failed')
  const rows = lines.map(line => JSON.parse(line) as { level: number; err: { stack?: string } })
  assert.deepEqual(
    rows.map(({ level, err }) => [level, err.stack !== undefined]),
    [
      [40, false],
      [40, false],
      [50, true],
    ],
  )
  assert.doesNotMatch(lines.slice(0, 2).join(''), / at /)
})

test('the line of a change says who changed what from where; a refused one is a warning', async t => {
  const test = await TestRegistry.open(t, { logLevel: 'info' })
  const alice = await test.user('alice')
  const bob = await test.user('bob')
  const release = { name: 'demo', version: '1.0.0' }
  await test.publish(alice, release)
  await test.publish(bob, { ...release, version: '1.0.1' })
  await test.publish('plim_unknown', release)
  await test.request('DELETE', '/api/v1/crates/demo/1.0.0/yank', alice)
  await test.request('DELETE', '/api/v1/crates/demo/1.0.0/yank', bob)
  const body = JSON.stringify({ users: ['bob'] })
  await test.request('PUT', '/api/v1/crates/demo/owners', alice, { body })
  const visitor = await loggedIn(test, 'alice')
  await visitor.post('/me/crates/demo/unyank', { version: '1.0.0' })
  const rows = test.logged.map(line => JSON.parse(line) as Record<string, unknown>)
  const [owner, other] = [{ user: 'alice' }, { user: 'bob' }]
  const [first, second] = [
    { crate: 'demo', version: '1.0.0' },
    { crate: 'demo', version: '1.0.1' },
  ]
  assert.deepEqual(
    rows.map(({ level, user, crate, version, address, refused }) => ({
      level,
      ...(user !== undefined && { user }),
      ...(crate !== undefined && { crate }),
      ...(version !== undefined && { version }),
      address,
      ...(refused !== undefined && { refused: String(refused).slice(0, 22) }),
    })),
    [
      { level: 30, ...owner, ...first, address: 'unknown' },
      { level: 40, ...other, ...second, address: 'unknown', refused: '`bob` is not an owner ' },
      { level: 40, address: 'unknown', refused: 'this token is not vali' },
      { level: 30, ...owner, ...first, address: 'unknown' },
      { level: 40, ...other, ...first, address: 'unknown', refused: '`bob` is not an owner ' },
      { level: 30, ...owner, crate: 'demo', address: 'unknown' },
      { level: 30, ...owner, ...first, address: '192.0.2.1' },
    ],
  )
})
