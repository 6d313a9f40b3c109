import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { disk } from '../../../../generator/places/disk/disk.ts'
import {
  makeFolder,
  syncFileSystems,
  writeDurably,
} from '../../../../generator/places/disk/durable.ts'
import { folderOf } from '../../../support/workplace.ts'

const replace = (path: string, bytes: Buffer) => disk.run('replace', path, bytes)

for (const write of [writeDurably, replace]) {
  test(`${write.name} makes the folders, replaces what was there and leaves nothing else`, async t => {
    const folder = folderOf(t)
    const path = join(folder, 'a', 'b', 'file')
    await write(path, Buffer.from('first'))
    assert.equal(readFileSync(path, 'utf8'), 'first')
    const inode = statSync(path).ino
    await write(path, Buffer.from('second'))
    assert.equal(readFileSync(path, 'utf8'), 'second')
    assert.notEqual(statSync(path).ino, inode)
    assert.deepEqual(readdirSync(join(folder, 'a', 'b')), ['file'])
  })

  test(`${write.name} leaves no half-written file when it fails`, async t => {
    const folder = folderOf(t)
    const path = join(folder, 'taken')
    mkdirSync(join(path, 'by a folder'), { recursive: true })
    await assert.rejects(write(path, Buffer.from('x')), { code: 'EISDIR' })
    assert.deepEqual(readdirSync(folder), ['taken'])
  })
}

test('a folder with a name of one letter is made and synced in little time', async t => {
  const before = process.cwd()
  t.after(() => process.chdir(before))
  process.chdir(folderOf(t))
  await makeFolder('r')
  assert.deepEqual(readdirSync('.'), ['r'])
})

test('a `sync` that cannot do one file system is told from one that fails', async t => {
  const folder = folderOf(t)
  const { PATH } = process.env
  t.after(() => {
    process.env.PATH = PATH
  })
  assert.equal(await syncFileSystems([folder]), 'synced')
  process.env.PATH = folder
  assert.equal(await syncFileSystems([folder]), 'impossible')
  for (const [complaint, result] of [
    ['sync: unrecognized option: f', 'impossible'],
    ['sync: error syncing /srv: Input/output error', 'failed'],
  ]) {
    writeFileSync(join(folder, 'sync'), `#!/bin/sh\necho '${complaint}' >&2\nexit 1\n`)
    chmodSync(join(folder, 'sync'), 0o755)
    assert.equal(await syncFileSystems([folder]), result)
  }
})
