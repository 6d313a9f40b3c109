import assert from 'node:assert/strict'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openSqlite, requireRead } from '../../../../generator/places/disk/sqlite-file.ts'
import { folderOf } from '../../../support/workplace.ts'

/** A file that Linux opens and of which every read at the beginning fails. */
const UNREADABLE = '/proc/self/mem'

test('a failed read is an error, and no empty database', { skip: notLinux() }, () => {
  assert.throws(() => openSqlite(UNREADABLE), { code: 'SQLITE_IOERR' })
})

test('a path is a path, whatever an address makes of its letters', t => {
  const dir = join(folderOf(t), 'we%20ird?vfs=x#b &é "q"')
  mkdirSync(dir)
  const path = join(dir, '100%25?mode=memory#.db')
  const database = openSqlite(path)
  database.exec('CREATE TABLE a (b)')
  assert.deepEqual(readdirSync(dir), ['100%25?mode=memory#.db'])
  assert.equal(openSqlite(path).prepare('SELECT b FROM a').all().length, 0)
})

test('databases in memory are in no file, and apart', () => {
  openSqlite(':memory:').exec('CREATE TABLE a (b)')
  assert.throws(() => openSqlite(':memory:').prepare('SELECT b FROM a'), /no such table/)
})

test('the error says what the system says, or else SQLite', t => {
  const dir = folderOf(t)
  assert.throws(() => openSqlite(join(dir, 'none', 'x.db')), { code: 'ENOENT' })
  assert.throws(() => openSqlite(dir), { code: 'EISDIR', path: dir })
})

test('a check that could not read a page has found no damage', () => {
  // What SQLite says after one EIO, and of a page that is damaged.
  const failed = 'Tree 11 page 110: unable to get the page. error code=8458'
  assert.throws(() => requireRead(failed), { code: 'SQLITE_IOERR' })
  for (const said of [
    'ok',
    'Tree 2 page 2: unable to get the page. error code=11',
    'Page 9: never used',
  ])
    assert.equal(requireRead(said), said)
})

function notLinux(): string | false {
  return process.platform === 'linux' ? false : 'needs /proc'
}
