import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Refusal } from '../../core/error/error.ts'
import { CrateStore } from '../../generator/places/crate-store.ts'
import { Cleanup } from '../support/cleanup.ts'
import { bucketOn } from '../support/s3/bucket.ts'
import { startEngine } from '../support/s3/engine.ts'
import { folderOf, once } from '../support/workplace.ts'

const stores: Readonly<Record<string, (t: TestContext) => Promise<CrateStore> | CrateStore>> = {
  folder: t => CrateStore.inFolder(join(folderOf(t), 'crates')),
  bucket: async t => new CrateStore(bucketOn(await startEngine(new Cleanup(t))), folderOf(t)),
}

const BYTES = Buffer.from('the bytes of a crate')
const KEY = keyOf(BYTES)

for (const [name, open] of Object.entries(stores)) {
  test(`${name}: what is kept is there, whole and in parts`, async t => {
    const store = await open(t)
    await store.probe()
    const staged = await store.stage(once(BYTES), 100)
    assert.deepEqual([staged.size, `${staged.cksum}.crate`], [BYTES.length, KEY.slice(-70)])
    assert.equal(await store.size(KEY), null)
    await staged.keep(KEY)
    await staged.keep(KEY)
    await staged.discard()
    assert.equal(await store.size(KEY), BYTES.length)
    assert.equal(`${await store.checksum(KEY)}.crate`, KEY.slice(-70))
    assert.deepEqual(await read(store, KEY), { size: BYTES.length, text: `${BYTES}` })
    const part = { size: BYTES.length, text: 'bytes' }
    assert.deepEqual(await read(store, KEY, { start: 4, end: 8 }), part)
    for (let again = 0; again < 2; again++) {
      const file = await store.localFile(KEY)
      assert.equal(file?.size, BYTES.length)
      assert.deepEqual(readFileSync(file.path), BYTES)
    }
  })

  test(`${name}: nothing is where nothing was kept`, async t => {
    const store = await open(t)
    await (await store.stage(once(BYTES), 100)).discard()
    assert.equal(await store.size(KEY), null)
    assert.equal(await store.checksum(KEY), null)
    assert.equal(await store.open(KEY), null)
    assert.equal(await store.localFile(KEY), null)
    await store.remove(KEY)
    assert.deepEqual(await keysOf(store), [])
    await store.sweep()
  })

  test(`${name}: too many bytes are refused while they arrive`, async t => {
    const store = await open(t)
    const max = 100_000
    const isTooBig = (error: unknown) => error instanceof Refusal && error.has('crate_too_big')
    await assert.rejects(store.stage(once(Buffer.alloc(max + 1)), max), isTooBig)
  })

  test(`${name}: bytes of every size are kept, also those that come in a file`, async t => {
    const store = await open(t)
    for (const length of [0, 1, 64 * 1024, 64 * 1024 + 1, 17 * 1024 * 1024]) {
      const bytes = Buffer.alloc(length, `${length} `)
      const staged = await store.stage(once(bytes), length)
      await staged.keep(keyOf(bytes))
      assert.equal(await store.size(keyOf(bytes)), length)
      assert.equal(`${await store.checksum(keyOf(bytes))}.crate`, keyOf(bytes).slice(-70))
    }
  })

  test(`${name}: the same bytes may be kept again, and by many at once`, async t => {
    const store = await open(t)
    const staged = await Promise.all(
      Array.from({ length: 20 }, () => store.stage(once(BYTES), 100)),
    )
    await Promise.all(staged.map(one => one.keep(KEY)))
    assert.deepEqual(await keysOf(store), [KEY])
    assert.deepEqual(await read(store, KEY), { size: BYTES.length, text: `${BYTES}` })
  })

  test(`${name}: removed and set aside bytes are gone from the list`, async t => {
    const store = await open(t)
    const other = Buffer.from('other bytes')
    for (const bytes of [BYTES, other])
      await (await store.stage(once(bytes), 100)).keep(keyOf(bytes))
    assert.deepEqual((await keysOf(store)).sort(), [KEY, keyOf(other)].sort())
    const place = await store.setAside(KEY)
    assert.match(place, /aside\/demo-[0-9a-f]{64}\.crate$/)
    assert.deepEqual(await keysOf(store), [keyOf(other)])
    await store.remove(keyOf(other))
    await store.remove(keyOf(other))
    assert.deepEqual(await keysOf(store), [])
  })
}

function keyOf(bytes: Uint8Array): string {
  return `de/mo/demo/${createHash('sha256').update(bytes).digest('hex')}.crate`
}

async function read(store: CrateStore, key: string, range?: { start: number; end: number }) {
  const found = await store.open(key, range)
  if (!found) return null
  const parts: Buffer[] = []
  for await (const part of found.bytes) parts.push(part as Buffer)
  return { size: found.size, text: Buffer.concat(parts).toString() }
}

async function keysOf(store: CrateStore): Promise<string[]> {
  const keys: string[] = []
  for await (const key of store.list()) keys.push(key)
  return keys
}
