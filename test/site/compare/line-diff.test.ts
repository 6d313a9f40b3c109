import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type DiffLine, LineDiffs, linesOf, NO_END } from '../../../site/compare/line-diff.ts'
import { frugally } from '../../support/processor-time.ts'

const SIGNS = { same: ' ', added: '+', removed: '-' } as const

/** A difference as `diff -u` writes it. */
function unified(before: string, after: string): string[] {
  return new LineDiffs()
    .compare(before, after)
    .hunks()
    .flatMap(({ before, after, lines }) => [
      `@ ${before} ${after}`,
      ...lines.map(line => SIGNS[line.kind] + line.text),
    ])
}

const text = (...lines: readonly (string | number)[]) => lines.map(line => `${line}\n`).join('')
const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at)

test('changed lines have three lines around them, and close ones are together', () => {
  assert.deepEqual(unified(text(...numbers(1, 9)), text(...numbers(1, 4), 'x', ...numbers(6, 9))), [
    '@ 2 2',
    ...[' 2', ' 3', ' 4', '-5', '+x', ' 6', ' 7', ' 8'],
  ])
  const both = text('a', ...numbers(1, 6), 'b', ...numbers(7, 13), 'c')
  const changed = text('A', ...numbers(1, 6), 'B', ...numbers(7, 13), 'C')
  assert.deepEqual(
    unified(both, changed).filter(line => line.startsWith('@')),
    ['@ 1 1', '@ 13 13'],
  )
  assert.deepEqual(unified('', text('a')), ['@ 1 1', '+a'])
  assert.deepEqual(unified(text('a'), ''), ['@ 1 1', '-a'])
  assert.deepEqual(unified('a\n', 'a\n'), [])
})

test('the end of the last line counts, as in git', () => {
  assert.deepEqual(unified('a\nb', 'a\nb\n'), ['@ 1 1', ' a', `-b${NO_END}`, '+b'])
})

test('frequent lines do not match where all else differs', () => {
  const block = (word: string) => numbers(1, 200).map(n => (n % 5 === 3 ? '}' : `${word} ${n}`))
  const { added, removed } = new LineDiffs().compare(text(...block('a')), text(...block('b')))
  assert.deepEqual([added, removed], [200, 200])
})

test('the lines of a difference are those of both texts', () => {
  const lines = fc.array(fc.constantFrom('a', 'b', 'c', '}', ''), { maxLength: 40 })
  fc.assert(
    fc.property(lines, lines, (a, b) => {
      const [before, after] = [text(...a), text(...b)]
      const diff = new LineDiffs().compare(before, after)
      assert.equal(diff.added - diff.removed, b.length - a.length)
      for (const hunk of diff.hunks()) {
        const side = (kind: DiffLine['kind']) =>
          hunk.lines.filter(line => line.kind !== kind).map(line => line.text)
        const [old, now] = [side('added'), side('removed')]
        assert.deepEqual(linesOf(before).slice(hunk.before - 1, hunk.before - 1 + old.length), old)
        assert.deepEqual(linesOf(after).slice(hunk.after - 1, hunk.after - 1 + now.length), now)
      }
    }),
  )
})

test('what is too much to match says so, and costs no more than its share', () => {
  // Each line is there often, so that none is an anchor.
  const lines = (seed: number) => numbers(1, 20_000).map(n => (n * n * seed) % 97)
  const diffs = new LineDiffs(1_000_000)
  const compare = () => diffs.compare(text(...lines(1)), text(...lines(4)))
  const { isMatched, added, removed } = frugally(compare, 'it', 2000)
  assert.equal(isMatched, false)
  assert.ok(added <= 20_000 && removed <= 20_000)
  assert.equal(diffs.compare(text(1, 2, 3), text(1, 3)).isMatched, true)
})
