import assert from 'node:assert/strict'
import { test } from 'node:test'
import { issue, Refusal } from '../../../core/error/error.ts'
import { type LogFormat, logFailure, openLog } from '../../../daemon/http/log.ts'
import { TestRegistry } from '../../support/registry.ts'
import { loggedIn } from '../../support/visitor.ts'

/** A log of one format, and everything it writes, without the time of text lines. */
function scene(format: LogFormat) {
  const lines: string[] = []
  const write = (line: string) => lines.push(line.replace(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d /, ''))
  return { lines, log: openLog('info', { write }, format) }
}

const REQUEST = { method: 'PUT', path: '/api/v1/crates/new', status: 403, ms: 9.4 }

test('people see who asked from where for which version', () => {
  const { lines, log } = scene('text')
  const who = { user: 'alice', address: '192.0.2.1' }
  log.info({ ...REQUEST, crate: 'demo', version: '1.0.0', ...who }, 'request')
  log.warn({ ...REQUEST, crate: 'demo', address: who.address, refused: 'no' }, 'request')
  log.info({ ...REQUEST, ...who }, 'request')
  assert.deepEqual(lines, [
    'PUT /api/v1/crates/new 403 9.4 ms, demo 1.0.0, by alice from 192.0.2.1\n',
    'PUT /api/v1/crates/new 403 9.4 ms, demo, from 192.0.2.1, refused: no\n',
    'PUT /api/v1/crates/new 403 9.4 ms, by alice from 192.0.2.1\n',
  ])
})

test('what has to be expected is a warning with its cause; only other errors have a stack', () => {
  const { lines, log } = scene('text')
  const full = Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' })
  logFailure(log, full, 'a build failed; trying again')
  const refusal = new Refusal([issue('git_switched_off')], { cause: full })
  logFailure(log, refusal, 'there is no git index')
  const odd = Object.assign(new TypeError('x is odd'), { code: 'ERR_INVALID_ARG_TYPE' })
  logFailure(log, odd, 'unexpected error', { id: '7', ...REQUEST })
  log.info({ signal: 'SIGTERM' }, 'stopping')
  assert.match(
    lines[0] ?? '',
    /^warning: a build failed; trying again: the disk .* is full: ENOSPC: no space left; .*\n$/,
  )
  assert.match(lines[1] ?? '', /^warning: there is no git index: .+\n$/)
  const [first, ...frames] = (lines[2] ?? '').trimEnd().split('\n')
  assert.equal(
    first,
    'error: unexpected error (PUT /api/v1/crates/new): TypeError: x is odd, code=ERR_INVALID_ARG_TYPE, id=7, status=403, ms=9.4',
  )
  assert.ok(frames.length > 0 && frames.every(frame => frame.startsWith('    at ')), lines[2])
  assert.equal(lines[3], 'stopping, signal=SIGTERM\n')
})

test('text has every fact that JSON has', () => {
  const record = { upstream: 'crates-io', kind: 'lure', crate: 'demo', version: '1.0.0', left: [1] }
  const cause = new Error('it rains')
  const err = Object.assign(new Error('no picnic', { cause }), { code: 'E1', path: '/meadow' })
  for (const [fields, msg] of [
    [record, 'an alarm'],
    [{ err, settings: ['log.level'] }, 'a fault'],
    [{ ...REQUEST, agent: 'Mozilla/5.0 (X11)', bytes: 7, id: 'i7' }, 'request'],
  ] as const) {
    const { lines, log } = scene('text')
    log.warn(fields, msg)
    const text = lines.join('')
    const { err: error, ...others } = { err: { message: '', code: '', path: '' }, ...fields }
    for (const value of [...Object.values(others), error.message, error.code, error.path]) {
      assert.ok(text.includes(typeof value === 'string' ? value : JSON.stringify(value)), text)
    }
    if (error.message !== '') assert.match(text, /\ncaused by: Error: it rains\n/)
  }
  // Also what is a piece of other words, of what several errors say, and of what is no error.
  const { lines, log } = scene('text')
  log.warn({ upstream: 'up', crate: 'a' }, 'an upstream has raised an alarm')
  log.warn({ path: '/x' }, 'a place')
  const each = ['::1', '127.0.0.1'].map(host => Object.assign(new RangeError('refused'), { host }))
  log.error({ err: new AggregateError(each) }, 'refused')
  for (const err of [null, 'thrown']) log.error({ err }, 'no error')
  const firsts = lines.map(line => line.split('\n')[0])
  assert.deepEqual(firsts, [
    'warning: an upstream has raised an alarm, upstream=up, crate=a',
    'warning: a place (/x)',
    'error: refused: AggregateError: RangeError: refused, host=::1: RangeError: refused, host=127.0.0.1',
    'error: no error: object: null',
    'error: no error: string: thrown',
  ])
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
  const lines = rows.map(({ level, user, crate, version, address, refused = '' }) =>
    [level, user, crate, version, address, String(refused).slice(0, 21)].join(' ').trimEnd(),
  )
  assert.deepEqual(lines, [
    '30 alice demo 1.0.0 unknown',
    '40 bob demo 1.0.1 unknown `bob` is not an owner',
    '40    unknown this token is not val',
    '30 alice demo 1.0.0 unknown',
    '40 bob demo 1.0.0 unknown `bob` is not an owner',
    '30 alice demo  unknown',
    '30 alice demo 1.0.0 192.0.2.1',
  ])
})
