import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseDeprecated } from '../../core/notes/notes.ts'

test('a whole version means that one, anything shorter is a requirement as in Cargo', () => {
  const read: readonly [spec: string, requirement: string][] = [
    ['demo', '*'],
    ['demo@1.0.0', '=1.0.0'],
    ['demo@1.0.0-rc.1', '=1.0.0-rc.1'],
    ['demo@1.0.0+build', '=1.0.0'],
    ['demo@=1.0.0', '=1.0.0'],
    ['demo@^1.0.0', '^1.0.0'],
    ['demo@1.0', '^1.0'],
    ['demo@<2', '<2'],
  ]
  for (const [spec, requirement] of read)
    assert.deepEqual(parseDeprecated(spec), { name: 'demo', requirement }, spec)
  assert.throws(() => parseDeprecated('demo@'), /not a version requirement/)
})
