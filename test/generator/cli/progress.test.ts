// Mirrors generator/cli/console/terminal.ts
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Io } from '../../../generator/cli/console/io.ts'
import { progressLine, terminalIo } from '../../../generator/cli/console/terminal.ts'

/** A command whose clock is set by hand, and all that it writes to stdout and stderr. */
function scene(stderr: { isTTY?: boolean; columns?: number }, env: Io['env'] = {}) {
  const written: string[] = []
  const clock = { seconds: 0 }
  const write = (text: string) => written.push(text)
  const io: Io = {
    ...terminalIo({ stdout: { write }, stderr: { ...stderr, write }, env }),
    now: () => new Date(clock.seconds * 1000),
  }
  return { io, written, clock }
}

test('without a terminal progress is a line every ten seconds', () => {
  const { io, written, clock } = scene({})
  const progress = progressLine(io)
  for (; clock.seconds <= 25; clock.seconds++) progress('importing crates', clock.seconds, 25)
  assert.deepEqual(written, [
    'importing crates: 10 of 25, less than 1 min left\n',
    'importing crates: 20 of 25, less than 1 min left\n',
  ])
})

test('on a terminal progress is one line, which is gone when anything else is printed', () => {
  const { io, written, clock } = scene({ isTTY: true, columns: 80 })
  const progress = progressLine(io)
  progress('reading', 0, 0)
  progress('rendering pages', 1, 20_000)
  progress('rendering pages', 2, 20_000)
  clock.seconds = 60
  progress('rendering pages', 4000, 20_000)
  clock.seconds = 61
  progress('rendering pages', 4001, 2_000_000)
  clock.seconds = 62
  progress('rendering pages', 4002, 20_000, 0.5)
  io.out('added demo 1.0.0')
  const clear = '\r\x1b[K'
  assert.deepEqual(written, [
    'reading',
    clear,
    'rendering pages: 1 of 20,000',
    clear,
    'rendering pages: 4,000 of 20,000, about 4 min left',
    clear,
    'rendering pages: 4,001 of 2,000,000, about 8 h left',
    clear,
    'rendering pages: 4,002 of 20,000, about 1 min left',
    clear,
    'added demo 1.0.0\n',
  ])
})

test('errors and warnings are colored on terminals, as NO_COLOR and FORCE_COLOR say', () => {
  const TERM = 'xterm-256color'
  const print = (isTTY: boolean, env: Io['env']) => {
    const { io, written } = scene({ isTTY }, env)
    for (const line of ['error: a', 'warning: b', 'c']) io.err(line)
    return written.join('')
  }
  const colored = '\x1b[31merror:\x1b[0m a\n\x1b[33mwarning:\x1b[0m b\nc\n'
  const plain = 'error: a\nwarning: b\nc\n'
  assert.equal(print(true, { TERM }), colored)
  assert.equal(print(false, { TERM, FORCE_COLOR: '1' }), colored)
  assert.equal(print(false, { TERM }), plain)
  assert.equal(print(true, { TERM, NO_COLOR: '1' }), plain)
  assert.equal(print(true, { TERM, FORCE_COLOR: '0' }), plain)
  assert.equal(print(true, { TERM: 'dumb' }), plain)
})

test('no text of a stranger controls the terminal, and JSON stays JSON', () => {
  const { io, written } = scene({ isTTY: true, columns: 80 })
  const hostile = 'a\x1b[2J\x9bm\r\u202e\u2028'
  io.out(`lost: ${hostile}`)
  io.err(`error: ${hostile}`)
  io.transient?.(hostile)
  io.out(JSON.stringify({ hostile }))
  const text = written.join('').replaceAll('\r\x1b[K', '').replaceAll('\n', '')
  assert.doesNotMatch(text, /[\p{Cc}\p{Bidi_Control}\p{Zl}]/u)
  assert.deepEqual(JSON.parse(written.at(-1) ?? ''), { hostile })
})

test('a line never wraps, and a dumb terminal gets no escape sequences', () => {
  const narrow = scene({ isTTY: true, columns: 10 })
  progressLine(narrow.io)('rendering pages', 1, 2)
  assert.deepEqual(narrow.written, ['rendering'])
  const dumb = scene({ isTTY: true, columns: 80 }, { TERM: 'dumb' })
  progressLine(dumb.io)('rendering pages', 1, 2)
  assert.deepEqual(dumb.written, [])
})
