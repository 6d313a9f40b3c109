import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  groupWarnings,
  type Issue,
  inFile,
  issue,
  refuseErrors,
  warning,
} from '../../../core/error/error.ts'
import { none } from '../../support/none.ts'
import { root } from '../../support/plimsoll.ts'
import { objectionsTo } from '../../support/refusal.ts'

const thrownBy = (issues: readonly Issue[]) => objectionsTo(() => refuseErrors(issues))
const error = (path: string) => issue('archive_cargo_ok', { path })
const hint = (path: string) => warning('archive_cargo_ok', { path })

test('no code stands in two catalogs or under two kinds, where the later one would win', async () => {
  const folder = join(root, 'dist', 'core', 'error', 'messages')
  const codes: string[] = []
  for (const file of readdirSync(folder).filter(name => name.endsWith('.js'))) {
    for (const table of Object.values(await import(join(folder, file))))
      for (const messages of Object.values(table as object)) codes.push(...Object.keys(messages))
  }
  assert.ok(codes.length > 100, String(codes.length))
  none(codes.filter((code, at) => codes.indexOf(code) !== at))
})

test('a refusal lists each error once, at most 50 of them, and says how many more there are', () => {
  const twice = [hint('w'), error('e0'), error('e0')]
  assert.deepEqual(thrownBy(twice), [error('e0').message])
  const shown = thrownBy(Array.from({ length: 52 }, (_, i) => error(`e${i}`)))
  assert.equal(shown.length, 51)
  assert.equal(shown[50], '2 more errors are not shown; fix those above and try again')
  assert.doesNotThrow(() => refuseErrors([hint('w')]))
})

test('warnings come one of each kind, with a count', () => {
  const [first, second, ...others] = groupWarnings([
    hint('a'),
    error('b'),
    hint('c'),
    hint('a'),
    warning('license_missing'),
    hint('d'),
  ])
  assert.equal(first?.message, `${hint('a').message} (and 2 more warnings of this kind)`)
  assert.deepEqual(second, warning('license_missing'))
  assert.deepEqual(others, [])
  assert.match(groupWarnings([hint('a'), hint('b')])[0]?.message ?? '', / \(and 1 more warning of/)
  const yanked = ['a', 'b', 'a'].map(name =>
    warning('dependency_yanked', { name, req: '=1.0.0', reason: 'it leaks' }),
  )
  assert.equal(groupWarnings(yanked).length, 2)
  const placed = [inFile('x.crate', hint('a')), inFile('y.crate', hint('a'))]
  assert.equal(groupWarnings(placed).length, 1)
})

test('what is quoted cannot write to a terminal or flood it', () => {
  const start = 'Cargo skips `\\u{1b}[2J\\u{a}\\u{202e}\\u{2028}é😀`'
  assert.ok(error('\u001b[2J\n\u202e\u2028é😀').message.startsWith(start))
  const long = error('x'.repeat(10_000)).message
  assert.ok(long.includes('x'.repeat(499).concat('…`')), long)
  assert.ok(long.length < 600)
})
