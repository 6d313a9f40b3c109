import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Refusal } from '../../../core/error/error.ts'
import { readSettings } from '../../../generator/registry/folder.ts'
import { initRegistry } from '../../../generator/registry/registry.ts'
import { folderOf } from '../../support/workplace.ts'

test('the settings of a new registry, and the name of its folder, are on disk before it is used', async t => {
  const handle = await open(fileURLToPath(import.meta.url))
  const sync = t.mock.method(Object.getPrototypeOf(handle) as { sync(): Promise<void> }, 'sync')
  await handle.close()
  await initRegistry(join(folderOf(t), 'registry'), { env: {} }, {})
  // The folder's name in the one above it, the bytes, and the name of the file.
  assert.equal(sync.mock.callCount(), 3)
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
