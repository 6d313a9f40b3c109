import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Mutex } from '../../core/async/mutex.ts'
import { FolderPlace } from '../../generator/places/folder-place.ts'
import { hasBytes, type Place, type PutOptions } from '../../generator/places/place.ts'
import { sync } from '../../generator/places/sync.ts'
import { SyncBatch } from '../../generator/places/sync-batch.ts'
import { Cleanup } from '../support/cleanup.ts'
import { bucketOn } from '../support/s3/bucket.ts'
import { startEngine } from '../support/s3/engine.ts'
import { folderOf } from '../support/workplace.ts'

const folder = (t: TestContext, sync: (root: string) => 'each' | 'never' | SyncBatch) => {
  const root = join(folderOf(t), 'place')
  return new FolderPlace(root, { sync: sync(root), mutex: new Mutex() })
}

const places: Readonly<Record<string, (t: TestContext) => Promise<Place> | Place>> = {
  'durable folder': t => folder(t, () => 'each'),
  folder: t => folder(t, () => 'never'),
  'folder in a batch': t => folder(t, root => new SyncBatch(root)),
  bucket: async t => bucketOn(await startEngine(new Cleanup(t)), 'a/b'),
}

const sumOf = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const put = (place: Place, path: string, text: string, options?: PutOptions) =>
  place.put(path, Buffer.from(text), options)

async function text(place: Place, path: string): Promise<string | undefined> {
  return (await place.read(path))?.bytes.toString()
}

async function part(place: Place, path: string, range?: { start: number; end: number }) {
  const file = await place.open(path, range)
  const parts: Buffer[] = []
  for await (const chunk of file?.bytes ?? []) parts.push(chunk as Buffer)
  return file && { size: file.size, text: Buffer.concat(parts).toString() }
}

async function listed(place: Place, ...asked: Parameters<Place['list']>): Promise<string[]> {
  const paths: string[] = []
  for await (const { path } of place.list(...asked)) paths.push(path)
  return paths.sort()
}

for (const [name, open] of Object.entries(places)) {
  test(`${name}: what is put is there, whole and in parts, until it is removed`, async t => {
    const place = await open(t)
    // Cargo's names, and what others may have in a bucket.
    for (const path of ['x/demo-1.0.0+b.crate', "x/ü + '(1)*.txt", 'top']) {
      await put(place, path, 'first')
      assert.ok(await put(place, path, 'hello world'))
      assert.equal((await place.head(path))?.size, 11)
      assert.equal(await place.checksum(path), sumOf('hello world'))
      assert.equal(await text(place, path), 'hello world')
      assert.deepEqual(await part(place, path), { size: 11, text: 'hello world' })
      assert.deepEqual(await part(place, path, { start: 6, end: 8 }), { size: 11, text: 'wor' })
      await place.remove(path)
      await place.remove(path)
      for (const pending of [place.head(path), place.checksum(path), place.open(path)])
        assert.equal(await pending, null)
      assert.equal(await place.read(path), null)
    }
    assert.deepEqual(await listed(place), [])
  })

  test(`${name}: a list has every file, those of a start, and those of a range`, async t => {
    const place = await open(t)
    const paths = ['a/b/c', 'a/bc', 'b', 'crates/a/x', 'crates/b/x', 'crates0']
    for (const path of paths) await put(place, path, path)
    assert.deepEqual(await listed(place), paths)
    assert.deepEqual(await listed(place, 'a/b'), ['a/b/c', 'a/bc'])
    assert.deepEqual(await listed(place, 'crates/'), ['crates/a/x', 'crates/b/x'])
    assert.deepEqual(await listed(place, 'none'), [])
    const range = { after: 'b', before: 'crates/b' }
    assert.deepEqual(await listed(place, '', range), ['crates/a/x'])
    for await (const file of place.list()) {
      assert.ok(await hasBytes(place, file, Buffer.from(file.path)))
      assert.equal(await hasBytes(place, file, Buffer.from(file.path.toUpperCase())), false)
    }
  })

  test(`${name}: a write with a condition happens only when it holds`, async t => {
    const place = await open(t)
    const first = await put(place, 'key', '1', { onlyIf: 'absent' })
    assert.ok(first)
    assert.equal(first, (await place.read('key'))?.etag)
    assert.equal(await put(place, 'key', '2', { onlyIf: 'absent' }), null)
    assert.equal(await put(place, 'key', '2', { onlyIf: { etag: '"x"' } }), null)
    assert.equal(await put(place, 'none', '2', { onlyIf: { etag: first } }), null)
    assert.equal(await text(place, 'key'), '1')
    assert.ok(await put(place, 'key', '3', { onlyIf: { etag: first } }))
    assert.equal(await text(place, 'key'), '3')
  })

  test(`${name}: of many writes at once under one condition, one happens`, async t => {
    const place = await open(t)
    let onlyIf: NonNullable<PutOptions['onlyIf']> = 'absent'
    for (let round = 0; round < 3; round++) {
      const writes = Array.from({ length: 20 }, async (_, at) => {
        const etag = await put(place, 'key', `write ${at} of ${round}`, { onlyIf })
        return { at, etag }
      })
      const [winner, ...others] = (await Promise.all(writes)).filter(({ etag }) => etag !== null)
      assert.deepEqual(others, [])
      assert.equal(await text(place, 'key'), `write ${winner?.at} of ${round}`)
      onlyIf = { etag: winner?.etag ?? '' }
    }
  })

  test(`${name}: long content goes whole, from memory and from a file`, async t => {
    const place = await open(t)
    const bytes = Buffer.alloc(17_000_000, 'abc')
    const path = join(folderOf(t), 'file')
    writeFileSync(path, bytes)
    const cksum = sumOf(bytes)
    for (const content of [bytes, { path, size: bytes.length }]) {
      for (const key of ['x/demo.crate', 'x/page.html']) {
        await place.remove(key)
        assert.ok(await place.put(key, content, { cksum, onlyIf: 'absent' }))
        assert.ok((await place.read(key))?.bytes.equals(bytes))
      }
    }
  })

  test(`${name}: a sync makes it equal, in order, and then finds nothing to do`, async t => {
    const [from, to] = [folder(t, () => 'never'), await open(t)]
    const files = ['crates/demo/demo-1.0.0.crate', 'index/de/mo/demo', 'index.html', 'mine']
    for (const path of files) await put(from, path, path)
    for (const path of ['index.html', 'old.html', 'index/ol/d1/old1', 'kept'])
      await put(to, path, `old ${path}`)
    const done: string[] = []
    const watched: Place = Object.assign(Object.create(to), {
      put: (path: string, bytes: Buffer) => done.push(`put ${path}`) && to.put(path, bytes),
      remove: (path: string) => done.push(`remove ${path}`) && to.remove(path),
      list: (...asked: Parameters<Place['list']>) => to.list(...asked),
      checksum: (path: string) => to.checksum(path),
    })
    const options = {
      brings: (path: string) => path !== 'mine',
      removes: async (path: string) => path.includes('old'),
    }
    const trial = await sync(from, watched, { ...options, isTrial: true })
    assert.deepEqual(done, [])
    const real = await sync(from, watched, options)
    assert.deepEqual(real, trial)
    assert.deepEqual(done, [
      ...[files[0], files[1], files[2]].map(path => `put ${path}`),
      'remove old.html',
      'remove index/ol/d1/old1',
    ])
    assert.deepEqual(real.surplus.toSorted(), ['index/ol/d1/old1', 'kept', 'old.html'])
    const again = await sync(from, watched, options)
    assert.deepEqual([again.uploaded, again.unchanged, again.removed], [[], 3, []])
  })
}
