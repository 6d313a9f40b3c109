import assert from 'node:assert/strict'
import fs, { existsSync, readlinkSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { Refusal } from '../../../core/error/error.ts'
import { readSettings } from '../../../generator/registry/folder.ts'
import { initRegistry } from '../../../generator/registry/registry.ts'
import { folderOf } from '../../support/workplace.ts'

test('the settings of a new registry, and the name of its folder, are on disk before it is used', async t => {
  const dir = join(folderOf(t), 'registry')
  const synced: string[] = []
  const { fsync } = fs
  t.mock.method(fs, 'fsync', (descriptor: number, done: fs.NoParamCallback) => {
    synced.push(readlinkSync(`/proc/self/fd/${descriptor}`))
    fsync(descriptor, done)
  })
  syncBuiltinESMExports()
  t.after(() => {
    t.mock.restoreAll()
    syncBuiltinESMExports()
  })
  await initRegistry(dir, { env: {} }, {})
  const [above, bytes = '', name, ...more] = synced
  // The folder's name in the one above it, the bytes, and the name of the file.
  assert.deepEqual([above, dirname(bytes), name, more], [dirname(dir), dir, dir, []])
})

test('a new registry refuses settings that are wrong, and leaves no folder', async t => {
  const dir = join(folderOf(t), 'registry')
  const flags = { 'registry.bogus': 'x', 'auth.required': 'maybe' }
  const codes = (error: unknown) =>
    error instanceof Refusal && error.has('setting_unknown') && error.has('setting_invalid')
  await assert.rejects(initRegistry(dir, { env: {} }, flags), codes)
  assert.equal(existsSync(dir), false)
  await initRegistry(dir, { env: {} }, { 'auth.required': 'true' })
  const { settings } = readSettings(dir, { env: {} })
  assert.equal(settings.auth.required, true)
})
