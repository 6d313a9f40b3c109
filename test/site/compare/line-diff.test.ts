import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type LineDiff, LineDiffs } from '../../../site/compare/line-diff.ts'

/** The hunks as `diff -u` prints them, without the heads' lengths. */
function told(diff: LineDiff): string[] {
  const sign = { same: ' ', added: '+', removed: '-' }
  return diff
    .hunks()
    .flatMap(hunk => [
      `@ ${hunk.before} ${hunk.after}`,
      ...hunk.lines.map(one => `${sign[one.kind]}${one.text}`),
    ])
}

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => `${from + at}\n`).join('')

test('changed lines have three lines around them, and near changes share a hunk', () => {
  const old = numbers(1, 30)
  const now = old
    .replace('\n5\n', '\nfive\n')
    .replace('\n9\n', '\n')
    .replace('\n25\n', '\n25\n25a\n')
  const diff = new LineDiffs().compare(old, now)
  assert.deepEqual([diff.added, diff.removed, diff.isMatched], [2, 2, true])
  assert.deepEqual(told(diff), [
    '@ 2 2',
    ...[' 2', ' 3', ' 4', '-5', '+five', ' 6', ' 7', ' 8', '-9', ' 10', ' 11', ' 12'],
    '@ 23 22',
    ...[' 23', ' 24', ' 25', '+25a', ' 26', ' 27', ' 28'],
  ])
})

const cases: [what: string, old: string, now: string, told: string[]][] = [
  ['nothing differs', 'a\n', 'a\n', []],
  ['a line end at the end of the text makes no line', 'a', 'a\n', []],
  ['all is new', '', 'a\nb\n', ['@ 1 1', '+a', '+b']],
  ['all is gone', 'a\n', '', ['@ 1 1', '-a']],
  ['a line at the beginning', 'b\n', 'a\nb\n', ['@ 1 1', '+a', ' b']],
  ['a line at the end', 'a\n', 'a\nb\n', ['@ 1 1', ' a', '+b']],
  ['empty lines', '\n\n', '\n', ['@ 1 1', ' ', '-']],
]
for (const [what, old, now, expected] of cases) {
  test(what, () => assert.deepEqual(told(new LineDiffs().compare(old, now)), expected))
}

test('more edits than the bound are not searched for: the middle is replaced', () => {
  const [old, now] = [numbers(1, 3000), numbers(1, 3000).replaceAll('7', 'x')]
  const diff = new LineDiffs().compare(old, now)
  assert.equal(diff.isMatched, false)
  assert.ok(diff.added > 2900 && diff.removed === diff.added)
})

test('all differences of a page share their bound', () => {
  const diffs = new LineDiffs(50_000)
  const compare = () => diffs.compare(numbers(1, 200), numbers(1, 200).replace(/5/g, 'x'))
  assert.equal(compare().isMatched, true)
  assert.equal(compare().isMatched, false)
})

const hostile: [what: string, old: string, now: string][] = [
  ['a million lines', 'a\n'.repeat(500_000), 'b\n'.repeat(500_000)],
  ['few kinds of lines', 'a\nb\n'.repeat(250_000), 'b\nb\na\n'.repeat(150_000)],
  ['one long line', 'a'.repeat(1_000_000), 'b'.repeat(1_000_000)],
  ['lines in another order', numbers(1, 100_000), numbers(50_000, 100_000) + numbers(1, 49_999)],
]
for (const [what, old, now] of hostile) {
  test(`hostile texts are compared in little time: ${what}`, () => {
    const before = process.cpuUsage()
    const diffs = new LineDiffs()
    for (let times = 0; times < 5; times++) diffs.compare(old, now)
    const { user, system } = process.cpuUsage(before)
    assert.ok((user + system) / 1e6 < 10, `${(user + system) / 1e6} s of processor time`)
  })
}
