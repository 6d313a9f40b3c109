import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Refusal } from '../../../core/error/error.ts'
import { CrateStore } from '../../../generator/places/crate-store.ts'
import type { OpenFile } from '../../../generator/places/place.ts'
import { folderOf, once } from '../../support/workplace.ts'

const BYTES = Buffer.from('the bytes of a crate')
const CKSUM = createHash('sha256').update(BYTES).digest('hex')
const KEY = `de/mo/demo/${CKSUM}.crate`

test('staged bytes have size and checksum, can be read, and are kept under their key', async t => {
  const store = CrateStore.inFolder(folderOf(t))
  await store.probe()
  const staged = await store.stage(inPieces(BYTES), 100)
  assert.deepEqual([staged.size, staged.cksum], [BYTES.length, CKSUM])
  assert.deepEqual(Buffer.from(staged.content), BYTES)
  assert.equal(await store.size(KEY), null)
  await staged.keep(KEY)
  await staged.keep(KEY)
  await staged.discard()
  assert.equal(await store.size(KEY), BYTES.length)
  assert.deepEqual(await bytesOf(await store.open(KEY)), BYTES)
  assert.equal(statSync(store.path(KEY) as string).mode & 0o777, 0o444)
  assert.deepEqual(readdirSync(join(store.place.name, 'incoming')), [])
})

test('discarded bytes are gone; to discard twice is fine', async t => {
  const store = CrateStore.inFolder(folderOf(t))
  await store.probe()
  for (const length of [20, 100_000]) {
    const staged = await store.stage(once(Buffer.alloc(length)), length)
    await staged.discard()
    await staged.discard()
  }
  assert.deepEqual(readdirSync(join(store.place.name, 'incoming')), [])
})

test('too many bytes are refused while they arrive, and none stay', async t => {
  const store = CrateStore.inFolder(folderOf(t))
  await store.probe()
  for (const [step, max] of [[10, 35] as const, [30_000, 105_000] as const]) {
    let given = 0
    async function* endless() {
      for (;;) {
        given++
        yield Buffer.alloc(step)
      }
    }
    await assert.rejects(store.stage(endless(), max), new Refusal([{ ...crateTooBig(max) }]))
    assert.equal(given, 4)
    assert.deepEqual(readdirSync(join(store.place.name, 'incoming')), [])
    const staged = await store.stage(once(Buffer.alloc(max)), max)
    assert.equal(staged.size, max)
    await staged.discard()
  }
})

test('a source that breaks leaves nothing', async t => {
  const store = CrateStore.inFolder(folderOf(t))
  await store.probe()
  for (const length of [4, 100_000]) {
    async function* broken() {
      yield Buffer.alloc(length)
      throw new Error('connection lost')
    }
    await assert.rejects(store.stage(broken(), 200_000), new Error('connection lost'))
  }
  assert.deepEqual(readdirSync(join(store.place.name, 'incoming')), [])
})

test('the same bytes kept again replace a file that an earlier attempt left', async t => {
  const store = CrateStore.inFolder(folderOf(t))
  mkdirSync(join(store.place.name, 'de', 'mo', 'demo'), { recursive: true })
  writeFileSync(store.path(KEY) as string, 'rotten')
  await (await store.stage(once(BYTES), 100)).keep(KEY)
  assert.deepEqual(readFileSync(store.path(KEY) as string), BYTES)
})

test('list gives the keys and nothing that is none', async t => {
  const store = CrateStore.inFolder(folderOf(t))
  assert.deepEqual(await keysOf(store), [])
  await (await store.stage(once(BYTES), 100)).keep(KEY)
  await store.stage(once(BYTES), 100)
  writeFileSync(join(store.place.name, 'NOTES.txt'), 'mine')
  writeFileSync(join(store.place.name, 'incoming', `${'0'.repeat(64)}.crate`), '')
  assert.deepEqual(await keysOf(store), [KEY])
  await store.remove(KEY)
  await store.remove(KEY)
  assert.deepEqual(await keysOf(store), [])
})

test('sweep removes what a killed process was receiving, not what one may be receiving now', async t => {
  const store = CrateStore.inFolder(folderOf(t))
  await store.sweep()
  const large = Buffer.alloc(100_000)
  const staged = await store.stage(once(large), large.length)
  const old = join(store.place.name, 'incoming', '.writing-0000000000000000')
  writeFileSync(old, 'half')
  const then = Date.now() / 1000 - 3601
  utimesSync(old, then, then)
  await store.sweep()
  assert.equal(existsSync(old), false)
  await staged.keep(KEY)
  assert.equal(await store.size(KEY), large.length)
})

function crateTooBig(max: number) {
  const message = `the .crate is bigger than the ${max} bytes allowed here; leave out what is not needed (\`exclude\` in Cargo.toml) or ask the operator to raise \`limits.crate_bytes\``
  return { code: 'crate_too_big', severity: 'error', message } as const
}

async function* inPieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 7) yield bytes.subarray(at, at + 7)
}

async function bytesOf(found: OpenFile | null): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for await (const part of found?.bytes ?? []) parts.push(part)
  return Buffer.concat(parts)
}

async function keysOf(store: CrateStore): Promise<string[]> {
  const keys: string[] = []
  for await (const key of store.list()) keys.push(key)
  return keys
}
