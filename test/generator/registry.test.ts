import assert from 'node:assert/strict'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { initRegistry } from '../../generator/registry.ts'
import { folderOf } from '../support/workplace.ts'

test('the settings of a new registry, and the name of its folder, are on disk before it is used', async t => {
  const handle = await open(fileURLToPath(import.meta.url))
  const sync = t.mock.method(Object.getPrototypeOf(handle) as { sync(): Promise<void> }, 'sync')
  await handle.close()
  await initRegistry(join(folderOf(t), 'registry'), { env: {} }, {})
  // The folder's name in the one above it, the bytes, and the name of the file.
  assert.equal(sync.mock.callCount(), 3)
})
