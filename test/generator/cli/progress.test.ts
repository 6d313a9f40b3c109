// Mirrors generator/cli/io.ts: progress without a terminal
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Io, progressLine } from '../../../generator/cli/io.ts'

test('without a terminal progress is a line every ten seconds', () => {
  const lines: string[] = []
  let seconds = 0
  const io: Io = {
    env: {},
    now: () => new Date(seconds * 1000),
    out: () => undefined,
    err: line => lines.push(line),
    isWatched: false,
  }
  const progress = progressLine(io, 'importing crate')
  for (; seconds <= 25; seconds++) progress.at(seconds, 25)
  progress.done()
  assert.deepEqual(lines, ['importing crate 10 of 25', 'importing crate 20 of 25'])
})
