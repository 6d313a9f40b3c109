// Mirrors generator/store/storage-fault.ts
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal } from '../../../core/error/error.ts'
import {
  isStorageRefusal,
  storageRefusal,
  writing,
} from '../../../generator/store/storage-fault.ts'

const failed = (code: string) => Object.assign(new Error(`${code}: broken`), { code })

test('a full disk and a read-only file system are refusals that say so', () => {
  const expected = {
    ENOSPC: 'storage_full',
    EDQUOT: 'storage_full',
    SQLITE_FULL: 'storage_full',
    EROFS: 'storage_readonly',
    SQLITE_READONLY: 'storage_readonly',
    SQLITE_READONLY_DBMOVED: 'storage_readonly',
  }
  for (const [code, kind] of Object.entries(expected))
    assert.equal(storageRefusal(failed(code))?.issues[0]?.code, kind, code)
  for (const code of ['ENOENT', 'SQLITE_BUSY', 'constructor', '__proto__'])
    assert.equal(storageRefusal(failed(code)), null, code)
  assert.equal(storageRefusal('ENOSPC'), null)
})

test('work that writes fails with the refusal, and keeps any other error', async () => {
  const full = writing(() => Promise.reject(failed('ENOSPC')))
  await assert.rejects(
    full,
    (error: unknown) => error instanceof Refusal && isStorageRefusal(error),
  )
  const other = failed('ENOENT')
  await assert.rejects(
    writing(() => Promise.reject(other)),
    (error: unknown) => error === other,
  )
})

test('an error whose code is no text is no fault of the disk', () => {
  assert.equal(storageRefusal(Object.assign(new Error('exit'), { code: 1 })), null)
})

test('the refusal names no path of the server', () => {
  const message = "ENOSPC: no space left on device, write '/srv/registry/crates/x'"
  const refusal = storageRefusal(Object.assign(new Error(message), { code: 'ENOSPC' }))
  assert.match(refusal?.issues[0]?.message ?? '', /full: ENOSPC: no space left on device;/)
})
