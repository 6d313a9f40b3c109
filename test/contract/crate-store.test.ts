import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { cksumOfKey } from '../../core/paths/crates.ts'
import { CrateStore } from '../../generator/places/crate-store.ts'
import { Cleanup } from '../support/cleanup.ts'
import { filesBelow } from '../support/folder.ts'
import { refusedWith } from '../support/refusal.ts'
import { bucketOn } from '../support/s3/bucket.ts'
import { startEngine } from '../support/s3/engine.ts'
import { folderOf, once } from '../support/workplace.ts'

/** Opens a crate store that receives bytes in a folder of this machine. */
type Open = (t: TestContext, cache: string) => Promise<CrateStore> | CrateStore

const stores: Readonly<Record<string, Open>> = {
  folder: (_, cache) => CrateStore.inFolder(cache),
  bucket: async (t, cache) => new CrateStore(bucketOn(await startEngine(new Cleanup(t))), cache),
}

const BYTES = Buffer.from('the bytes of a crate')
const KEY = keyOf(BYTES)

for (const [name, open] of Object.entries(stores)) {
  const opened = async (t: TestContext) => {
    const cache = folderOf(t)
    const store = await open(t, cache)
    await store.probe()
    return { store, incoming: () => readdirSync(join(cache, 'incoming')) }
  }

  test(`${name}: what is kept is there, whole and in parts`, async t => {
    const { store, incoming } = await opened(t)
    const staged = await store.stage(inPieces(BYTES), 100)
    assert.deepEqual([staged.size, staged.cksum], [BYTES.length, cksumOfKey(KEY)])
    assert.deepEqual(Buffer.from(staged.content as Uint8Array), BYTES)
    assert.equal(await store.size(KEY), null)
    await staged.keep(KEY)
    await staged.keep(KEY)
    await staged.discard()
    assert.equal(await store.size(KEY), BYTES.length)
    assert.equal(await store.checksum(KEY), cksumOfKey(KEY))
    assert.deepEqual(await read(store, KEY), { size: BYTES.length, text: `${BYTES}` })
    const part = { size: BYTES.length, text: 'bytes' }
    assert.deepEqual(await read(store, KEY, { start: 4, end: 8 }), part)
    for (let again = 0; again < 2; again++) {
      const file = await store.localFile(KEY)
      assert.equal(file?.size, BYTES.length)
      assert.deepEqual(readFileSync(file.path), BYTES)
      assert.equal(statSync(file.path).mode & 0o777, 0o444)
    }
    assert.deepEqual(incoming(), [])
  })

  test(`${name}: nothing is where nothing was kept; to discard twice is fine`, async t => {
    const { store, incoming } = await opened(t)
    for (const length of [20, 100_000]) {
      const staged = await store.stage(once(Buffer.alloc(length)), length)
      await staged.discard()
      await staged.discard()
    }
    assert.equal(await store.size(KEY), null)
    assert.equal(await store.checksum(KEY), null)
    assert.equal(await store.open(KEY), null)
    assert.equal(await store.localFile(KEY), null)
    await store.remove(KEY)
    assert.deepEqual(await keysOf(store), [])
    await store.sweep()
    assert.deepEqual(incoming(), [])
  })

  test(`${name}: too many bytes are refused while they arrive, and none stay`, async t => {
    const { store, incoming } = await opened(t)
    for (const [step, max] of [[10, 35] as const, [30_000, 105_000] as const]) {
      let sent = 0
      async function* endless() {
        for (;;) {
          sent++
          yield Buffer.alloc(step)
        }
      }
      await assert.rejects(store.stage(endless(), max), refusedWith('crate_too_big'))
      assert.equal(sent, 4)
      assert.equal((await store.stage(once(Buffer.alloc(max)), max)).size, max)
    }
    async function* broken(length: number) {
      yield Buffer.alloc(length)
      throw new Error('connection lost')
    }
    const before = incoming()
    for (const length of [4, 100_000])
      await assert.rejects(store.stage(broken(length), 200_000), new Error('connection lost'))
    assert.deepEqual(incoming(), before)
  })

  test(`${name}: bytes of every size are kept, also those that come in a file`, async t => {
    const { store, incoming } = await opened(t)
    for (const length of [0, 1, 64 * 1024, 64 * 1024 + 1, 17 * 1024 * 1024]) {
      const bytes = Buffer.alloc(length, `${length} `)
      const staged = await store.stage(once(bytes), length)
      await staged.keep(keyOf(bytes))
      assert.equal(await store.size(keyOf(bytes)), length)
      assert.equal(await store.checksum(keyOf(bytes)), cksumOfKey(keyOf(bytes)))
    }
    assert.deepEqual(incoming(), [])
  })

  test(`${name}: removed and set aside bytes are gone from the list, which has only keys`, async t => {
    const { store } = await opened(t)
    const other = Buffer.from('other bytes')
    for (const bytes of [BYTES, other])
      await (await store.stage(once(bytes), 100)).keep(keyOf(bytes))
    await store.place.put('NOTES.txt', Buffer.from('mine'))
    assert.deepEqual((await keysOf(store)).sort(), [KEY, keyOf(other)].sort())
    const place = await store.setAside(KEY)
    assert.match(place, /aside\/demo-[0-9a-f]{64}\.crate$/)
    const aside = place.slice(place.indexOf('aside/'))
    assert.equal((await store.place.read(aside))?.bytes.toString(), `${BYTES}`)
    assert.deepEqual(await keysOf(store), [keyOf(other)])
    await store.remove(keyOf(other))
    await store.remove(keyOf(other))
    assert.deepEqual(await keysOf(store), [])
  })
}

test('folder: the same bytes kept again replace a file that an earlier attempt left', async t => {
  const store = CrateStore.inFolder(folderOf(t))
  for (const bytes of [BYTES, Buffer.alloc(100_000)]) {
    const path = store.path(keyOf(bytes)) ?? ''
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, 'rotten')
    await (await store.stage(once(bytes), 100_000)).keep(keyOf(bytes))
    assert.deepEqual(readFileSync(path), bytes)
  }
  assert.equal(filesBelow(store.place.name).length, 2)
})

function keyOf(bytes: Uint8Array): string {
  return `de/mo/demo/${createHash('sha256').update(bytes).digest('hex')}.crate`
}

async function* inPieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 7) yield bytes.subarray(at, at + 7)
}

async function read(store: CrateStore, key: string, range?: { start: number; end: number }) {
  const file = await store.open(key, range)
  if (!file) return null
  const parts: Buffer[] = []
  for await (const part of file.bytes) parts.push(part as Buffer)
  return { size: file.size, text: Buffer.concat(parts).toString() }
}

async function keysOf(store: CrateStore): Promise<string[]> {
  const keys: string[] = []
  for await (const key of store.list()) keys.push(key)
  return keys
}
