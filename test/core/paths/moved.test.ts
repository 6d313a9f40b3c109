import assert from 'node:assert/strict'
import { test } from 'node:test'
import { movedPath } from '../../../core/paths/moved.ts'

const MOVED: readonly [old: string, now: string | null][] = [
  ['demo/1.0.0/src/src/lib.rs.html', 'demo/1.0.0/src/#src/lib.rs'],
  ['demo/1.0.0+a/src/a%20b.rs.html', 'demo/1.0.0+a/src/#a%20b.rs'],
  ['demo/1.0.0/parts/2/src/tables.rs.html', 'demo/1.0.0/src/#src/tables.rs'],
  ['demo/1.0.0/src/parts/2.rs.html', 'demo/1.0.0/src/#parts/2.rs'],
  ['demo/1.0.0/src/_.github/_.a.yml.html', 'demo/1.0.0/src/#.github/.a.yml'],
  ['demo/1.0.0/raw/src/lib.rs.txt', 'demo/1.0.0/src/#src/lib.rs'],
  ['demo/1.0.0/raw/src/lib.rs', 'demo/1.0.0/src/#src/lib.rs'],
  ['demo/1.0.0/raw/a/logo.png', 'demo/1.0.0/src/#a/logo.png'],
  ['demo/compare/1.0.0...1.1.0', 'demo/compare/#1.0.0...1.1.0'],
  ['demo/compare/1.0.0', null],
  ['demo/compare/1.0.0...1.1.0/x', null],
  ['demo/1.0.0/src/', null],
  ['demo/1.0.0/src/index.html', 'demo/1.0.0/src/#index'],
  ['demo/1.0.0/raw/', null],
  ['demo/1.0.0/src/lib.rs', null],
  ['demo/1.0.0/', null],
  ['demo/', null],
  ['', null],
]

test('pages of files that older programs wrote lead to the file, those of comparisons to both versions', () => {
  for (const [old, now] of MOVED) assert.equal(movedPath(old), now, old)
})
