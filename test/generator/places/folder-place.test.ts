import assert from 'node:assert/strict'
import { readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { FolderPlace } from '../../../generator/places/folder-place.ts'
import { folderOf } from '../../support/workplace.ts'

test('a file that is written with a condition is on disk before its turn comes, and leaves nothing', async t => {
  const root = folderOf(t)
  const before: number[] = []
  const mutex = {
    run<T>(work: () => Promise<T>): Promise<T> {
      before.push(readdirSync(root).length)
      return work()
    },
  }
  const place = new FolderPlace(root, { sync: 'each', mutex })
  const put = (text: string) => place.put('file', Buffer.from(text), { onlyIf: 'absent' })
  assert.notEqual(await put('first'), null)
  assert.equal(await put('second'), null)
  assert.deepEqual(before, [1, 2], 'who writes next would wait for the disk')
  assert.equal((await place.read('file'))?.bytes.toString(), 'first')
  assert.deepEqual(readdirSync(root), ['file'])
})

test('a file whose checksum is known is not read again: a read that fails harms nobody', async t => {
  const [root, uploads] = [folderOf(t), folderOf(t)]
  const put = (name: string, cksum?: string) => {
    const source = join(uploads, name)
    writeFileSync(source, 'bytes')
    const mutex = {
      async run<T>(work: () => Promise<T>): Promise<T> {
        const done = await work()
        rmSync(source)
        symlinkSync(source, source)
        return done
      },
    }
    const place = new FolderPlace(root, { sync: 'each', mutex })
    const options = { onlyIf: 'absent' as const, ...(cksum && { cksum }) }
    return place.put(name, { path: source, size: 5 }, options)
  }
  assert.equal(await put('known', 'ab'.repeat(32)), `"${'ab'.repeat(32)}"`)
  await assert.rejects(put('unknown'), /ELOOP/)
})
