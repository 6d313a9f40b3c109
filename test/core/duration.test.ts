// Mirrors core/timestamp.ts
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal } from '../../core/error/error.ts'
import { after, before } from '../../core/timestamp.ts'

const NOW = new Date('2026-11-20T12:00:00Z')

test('durations are whole numbers of days, hours, minutes or seconds', () => {
  const rows: [text: string, seconds: number][] = [
    ['90d', 90 * 86_400],
    ['12h', 43_200],
    ['30m', 1800],
    ['10s', 10],
    ['36500d', 36_500 * 86_400],
  ]
  for (const [text, seconds] of rows) {
    assert.equal(after(NOW, text).getTime() - NOW.getTime(), seconds * 1000, text)
    assert.equal(NOW.getTime() - before(NOW, text).getTime(), seconds * 1000, text)
  }
})

test('everything else is refused with examples, a time beyond every calendar, too', () => {
  for (const text of [
    ...['', '0d', '-1d', '1.5h', '90', '5w', '1D', '90 d', '01d', '36501d', '9999999d', '1d2h'],
  ]) {
    assert.throws(
      () => after(NOW, text),
      (error: unknown) =>
        error instanceof Refusal &&
        error.message.startsWith(`\`${text}\` is not a duration; write `),
      text,
    )
  }
})
