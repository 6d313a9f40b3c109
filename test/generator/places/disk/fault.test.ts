import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal } from '../../../../core/error/error.ts'
import {
  isStorageRefusal,
  storageRefusal,
  systemRefusal,
  writing,
} from '../../../../generator/places/disk/fault.ts'

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
  assert.equal(storageRefusal(Object.assign(new Error('exit'), { code: 1 })), null)
  const folder = Object.assign(failed('ENOENT'), { syscall: 'mkdir' })
  assert.equal(storageRefusal(folder)?.issues[0]?.code, 'storage_readonly', 'a folder')
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

test('errors of the system have messages of their own, and bugs have none', () => {
  const expected = {
    EIO: 'storage_failing',
    SQLITE_IOERR_WRITE: 'storage_failing',
    UNKNOWN_SQLITE_ERROR_8458: 'storage_failing',
    EMFILE: 'files_exhausted',
    ENFILE: 'files_exhausted',
    EAGAIN: 'threads_exhausted',
    EACCES: 'access_denied',
    SQLITE_BUSY_SNAPSHOT: 'database_locked',
    SQLITE_LOCKED: 'database_locked',
    SQLITE_CORRUPT_INDEX: 'database_damaged',
    SQLITE_NOTADB: 'database_damaged',
    SQLITE_CANTOPEN: 'database_unusable',
    ENOSPC: 'storage_full',
  }
  const codeOf = (error: unknown) => systemRefusal(error, 'client')?.issues[0]?.code ?? null
  for (const [code, kind] of Object.entries(expected)) assert.equal(codeOf(failed(code)), kind)
  for (const code of ['ENOENT', 'ENOTDIR', 'SQLITE_ERROR', 'SQLITE_CONSTRAINT', 'constructor', ''])
    assert.equal(codeOf(failed(code)), null, code)
  for (const code of ['ENOTDIR', 'ENAMETOOLONG']) {
    const told = systemRefusal(failed(code), 'operator')?.issues.map(issue => issue.code)
    assert.deepEqual(told, ['system_refuses'], 'a client gets an id instead')
  }
  const thread = new Error('Error [ERR_WORKER_INIT_FAILED]: EMFILE\n    at [kOnExit]')
  assert.equal(codeOf(thread), 'files_exhausted')
})

test('only operators are shown paths', () => {
  const message = (code: string, reader: 'client' | 'operator') => {
    const error = Object.assign(new Error(`${code}: i/o error, read '/srv/registry'`), { code })
    return systemRefusal(error, reader)?.message ?? ''
  }
  for (const code of ['EIO', 'ENOSPC']) assert.match(message(code, 'client'), /: E\w+: i\/o error;/)
  assert.match(message('EIO', 'operator'), /: EIO: i\/o error, read '\/srv\/registry'; look/)
})
