import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { WalSync } from '../../../../generator/store/database/wal-sync.ts'
import { folderOf } from '../../../support/workplace.ts'

test('a log that could not be opened once, say for want of descriptors, is opened at the next commit', async t => {
  const database = join(folderOf(t), 'plimsoll.db')
  const wal = new WalSync(database)
  await assert.rejects(wal.sync(), { code: 'ENOENT' })
  writeFileSync(`${database}-wal`, '')
  await wal.sync()
  await wal.close()
})
