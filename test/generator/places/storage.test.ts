import assert from 'node:assert/strict'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { resolveSettings } from '../../../core/settings/settings.ts'
import { requireApart } from '../../../generator/places/storage.ts'
import { refusedWith } from '../../support/refusal.ts'
import { folderOf } from '../../support/workplace.ts'

const CASES: readonly (readonly [crates: string, tree: string, isApart: boolean])[] = [
  ['crates', 'public', true],
  ['crates', '../public', true],
  ['../crates', '../crates-public', true],
  ['s3://bucket/crates', 'public', true],
  ['crates', 's3://bucket', true],
  ['s3://one', 's3://two', true],
  ['s3://bucket/crates', 's3://bucket/public', true],
  ['s3://bucket/crates', 's3://bucket/crates-public', true],
  ['crates', '.', false],
  ['crates', '..', false],
  ['crates', '/', false],
  ['s3://bucket', '.', false],
  ['crates', 'crates', false],
  ['crates', 'crates/public', false],
  ['public/crates', 'public', false],
  ['crates', 'link', false],
  ['link/of/crates', 'public', false],
  ['s3://bucket/crates', 's3://bucket', false],
  ['s3://bucket', 's3://bucket/public', false],
  ['s3://bucket/a', 's3://bucket/a', false],
]

for (const [crates, tree, isApart] of CASES) {
  test(`crates in ${crates} and the public tree in ${tree} are ${isApart ? 'taken' : 'refused'}`, t => {
    const root = join(folderOf(t), 'registry')
    mkdirSync(join(root, 'public'), { recursive: true })
    symlinkSync(tree === 'link' ? root : join(root, 'public'), join(root, 'link'))
    const open = () =>
      requireApart(root, { ...resolveSettings({ env: {} }).settings.storage, crates, public: tree })
    if (isApart) open()
    else assert.throws(open, refusedWith('places_overlap'))
  })
}
