import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  addDays as addDaysBy,
  DAYS_KEPT,
  type DayCounts,
  dateOf,
  dayOf,
  type PackedDays,
  packDays,
  sumUntil as sum,
  unpackDays,
  daysUntil as until,
} from '../../core/day-counts.ts'

type Packed = PackedDays | null

/** Adds to days as they are stored. */
const addDays = (days: Packed, more: DayCounts, today = 1000) =>
  packDays(addDaysBy(days && unpackDays(days), more, today))
const daysUntil = (days: Packed, last: number) => until(days && unpackDays(days), last)
const sumUntil = (days: Packed, last: number) => sum(days && unpackDays(days), last)

test('a day is a date in UTC', () => {
  assert.equal(dayOf(new Date('1970-01-01T23:59:59.999Z')), 0)
  assert.equal(dateOf(dayOf(new Date('2026-11-20T00:00:00Z'))), '2026-11-20')
})

test('days are kept without the zeros before them, and in any order', () => {
  const days = addDays(null, new Map([[100, 2]]))
  assert.deepEqual(days, { last: 100, counts: [2] })
  assert.deepEqual(addDays(days, new Map([[103, 5]])), { last: 103, counts: [2, 0, 0, 5] })
  assert.deepEqual(
    addDays(
      days,
      new Map([
        [99, 1],
        [100, 1],
      ]),
    ),
    { last: 100, counts: [1, 3] },
  )
})

test('days that are too old are forgotten', () => {
  const days = addDays(null, new Map([[100, 2]]))
  assert.deepEqual(addDays(days, new Map([[100 + DAYS_KEPT - 1, 1]])).counts.length, DAYS_KEPT)
  assert.deepEqual(addDays(days, new Map([[100 + DAYS_KEPT, 1]])), {
    last: 100 + DAYS_KEPT,
    counts: [1],
  })
  assert.deepEqual(addDays(days, new Map([[100 - DAYS_KEPT, 7]])), days)
})

test('the window until a day has that day last', () => {
  const days = addDays(null, new Map([[100, 2]]))
  assert.equal(daysUntil(days, 100).length, DAYS_KEPT)
  assert.equal(daysUntil(days, 100).at(-1), 2)
  assert.equal(daysUntil(days, 102).at(-3), 2)
  assert.equal(daysUntil(days, 99).at(-1), 0)
  assert.equal(sumUntil(days, 100 + DAYS_KEPT - 1), 2)
  assert.equal(sumUntil(days, 100 + DAYS_KEPT), 0)
  assert.equal(sumUntil(null, 100), 0)
})

test('days of a clock that was ahead do not stand in the way of those of now', () => {
  const ahead = addDays(null, new Map([[9000, 1]]), 9000)
  const both = { last: 9000, counts: [2, -8899, 1] }
  assert.deepEqual(addDays(ahead, new Map([[100, 2]]), 100), both)
  assert.equal(sumUntil(both, 101), 2)
  assert.deepEqual(addDays(both, new Map([[102, 1]]), 102).counts, [2, 0, 1, -8897, 1])
})

test('days of before stay while a clock is behind', () => {
  const before = addDays(null, new Map([[899, 4]]).set(900, 5), 900)
  const behind = addDays(before, new Map([[100, 1]]), 100)
  assert.equal(sumUntil(behind, 900), 9)
  const after = addDays(behind, new Map([[901, 2]]), 901)
  assert.deepEqual(after, { last: 901, counts: [4, 5, 2] })
})
