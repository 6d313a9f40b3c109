import assert from 'node:assert/strict'
import { test } from 'node:test'
import { restoredSettings } from '../../../generator/backup/restore.ts'
import { folderOf } from '../../support/workplace.ts'

test('what is kept of an upstream outside of the folder belongs to the registry in use', t => {
  const of = ([name, place]: [string, string]) =>
    `[upstream.${name}]\nindex = "sparse+https://x/"\nstorage = "${place}"\n`
  const text = Object.entries({ a: 's3://bucket/up', b: '/srv/up', c: 'kept', d: '' }).map(of)
  const sources = { env: { PLIMSOLL_UPSTREAM_C_STORAGE: '../c' } }
  const restored = restoredSettings(folderOf(t), { name: 'f', text: text.join('') }, sources)
  assert.deepEqual(restored.leftOut, ['upstream.a.storage', 'upstream.b.storage'])
  assert.deepEqual(restored.within, { 'upstream.c.storage': '' })
})
