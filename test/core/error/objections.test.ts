import assert from 'node:assert/strict'
import { test } from 'node:test'
import { issue, warning } from '../../../core/error/error.ts'
import { presentable } from '../../../core/error/objections.ts'

const error = (path: string) => issue('archive_cargo_ok', { path })
const hint = (path: string) => warning('archive_cargo_ok', { path })

test('errors come before warnings, and neither hides the other', () => {
  const many = [
    ...Array.from({ length: 60 }, (_, i) => hint(`w${i}`)),
    ...Array.from({ length: 52 }, (_, i) => error(`e${i}`)),
  ]
  const shown = presentable(many)
  assert.deepEqual(
    shown.map(one => one.severity),
    [...Array(51).fill('error'), ...Array(51).fill('warning')],
  )
  assert.equal(
    shown[50]?.message,
    '2 more objections are not shown; mend those above and try again',
  )
  assert.equal(
    shown[101]?.message,
    '10 more objections are not shown; mend those above and try again',
  )
})

test('warnings alone stay warnings', () => {
  const shown = presentable(Array.from({ length: 51 }, () => hint('x')))
  assert.ok(shown.every(one => one.severity === 'warning'))
})

test('what is quoted cannot write to a terminal or flood it', () => {
  const [one] = presentable([error('\u001b[2J\n\u202e\u2028é😀')])
  assert.ok(one?.message.startsWith('Cargo skips `\\u{1b}[2J\\u{a}\\u{202e}\\u{2028}é😀`'))
  const [long] = presentable([error('x'.repeat(10_000))])
  assert.equal(long?.message.length, 601)
})

test('nothing stays nothing', () => assert.deepEqual(presentable([]), []))
