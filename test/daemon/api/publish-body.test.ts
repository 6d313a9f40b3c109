import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal } from '../../../core/error/error.ts'
import { decodePublish, parseJson } from '../../../daemon/api/publish.ts'
import { encodePublish, u32 } from '../../support/release.ts'

const LIMITS = { metadataBytes: 1000, crateBytes: 5000 }
const METADATA = { name: 'demo', vers: '1.0.0', text: 'häh' }
const CRATE = Uint8Array.from({ length: 300 }, (_, i) => i % 251)

/** Pieces of a size, with empty ones between them. */
async function* inPieces(bytes: Uint8Array, size: number): AsyncIterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) {
    yield bytes.subarray(at, at + size)
    yield new Uint8Array(0)
  }
}

async function decode(source: AsyncIterable<Uint8Array>, limits = LIMITS) {
  const body = await decodePublish(source, limits)
  const metadata = parseJson(body.metadata)
  const chunks: Uint8Array[] = []
  for await (const chunk of body.crate) chunks.push(chunk)
  return { metadata, crate: Buffer.concat(chunks) }
}

/** The objection to a body: its code and message. */
async function objection(bytes: Uint8Array, limits = LIMITS): Promise<string> {
  try {
    await decode(inPieces(bytes, 64), limits)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    assert.equal(error.issues.length, 1)
    return `${error.issues[0].code}: ${error.issues[0].message}`
  }
  return 'none'
}

test('a publish body reads the same however it is cut into chunks', async () => {
  const whole = encodePublish(METADATA, CRATE)
  for (let size = 1; size <= whole.length; size++) {
    assert.deepEqual(await decode(inPieces(whole, size)), {
      metadata: METADATA,
      crate: Buffer.from(CRATE),
    })
  }
})

test('a body cut off anywhere is refused for the part in which it ends', async () => {
  const whole = encodePublish(METADATA, CRATE)
  const json = whole.length - CRATE.length - 8
  for (let end = 0; end < whole.length; end++) {
    const [part, announced] =
      end < 4
        ? ['length of the metadata', 4]
        : end < 4 + json
          ? ['metadata', json]
          : end < 8 + json
            ? ['length of the .crate', 4]
            : ['.crate', CRATE.length]
    assert.equal(
      await objection(whole.subarray(0, end)),
      `body_short: the publish request ends inside the ${part}, for which ${announced} bytes were announced`,
      `cut at ${end}`,
    )
  }
})

test('lengths that lie are refused', async t => {
  const json = Buffer.from(JSON.stringify(METADATA))
  const rows: [string, Uint8Array, string][] = [
    [
      'metadata longer than the limit',
      Buffer.concat([u32(1001), json]),
      'metadata_too_big: the publish metadata with the README has 1,001 bytes; at most 1,000 bytes are allowed (`limits.metadata_bytes`), shorten the README',
    ],
    [
      'metadata of 4 GiB',
      Buffer.concat([u32(0xffffffff), json]),
      'metadata_too_big: the publish metadata with the README has 4.0 GiB; at most 1,000 bytes are allowed (`limits.metadata_bytes`), shorten the README',
    ],
    [
      'crate longer than the limit',
      Buffer.concat([u32(json.length), json, u32(5001), CRATE]),
      'crate_too_big: the .crate is bigger than the 4.9 KiB allowed here; leave out what is not needed (`exclude` in Cargo.toml) or ask the operator to raise `limits.crate_bytes`',
    ],
    [
      'a byte after the crate',
      Buffer.concat([encodePublish(METADATA, CRATE), Buffer.from([0])]),
      'body_long: the publish request continues after the 300 bytes announced for the .crate',
    ],
    [
      'crate announced shorter than it is',
      Buffer.concat([u32(json.length), json, u32(299), CRATE]),
      'body_long: the publish request continues after the 299 bytes announced for the .crate',
    ],
  ]
  for (const [what, bytes, expected] of rows) {
    await t.test(what, async () => assert.equal(await objection(bytes), expected))
  }
})

test('metadata that is no JSON in UTF-8 is refused', async t => {
  const framed = (json: Uint8Array) => Buffer.concat([u32(json.length), json, u32(0)])
  const rows: [string, Uint8Array][] = [
    ['nothing', Buffer.alloc(0)],
    ['no JSON', Buffer.from('<xml/>')],
    ['announced shorter than it is', Buffer.from('{"name":')],
    ['two values', Buffer.from('{} {}')],
    ['not UTF-8', Buffer.from([0x22, 0xff, 0xfe, 0x22])],
    ['overlong UTF-8', Buffer.from([0x22, 0xc0, 0xaf, 0x22])],
    ['a lone surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ['UTF-16', Buffer.from('{"name":"demo"}', 'utf16le')],
  ]
  for (const [what, json] of rows) {
    await t.test(what, async () => {
      const [code, begin] = (await objection(framed(json))).split(/: | cannot be read/)
      assert.deepEqual([code, begin], ['metadata_invalid', 'the publish metadata'])
    })
  }
})

test('an error of the stream reaches the reader', async () => {
  const source = async function* () {
    yield encodePublish(METADATA, CRATE).subarray(0, 100)
    throw new Error('gone')
  }
  await assert.rejects(decode(source()), /^Error: gone$/)
})

test('the crate is handed on before all of it has arrived', async () => {
  let sent = 0
  const source = async function* () {
    yield encodePublish(METADATA, new Uint8Array(400_000)).subarray(0, 20_000)
    for (; sent < 10; sent++) yield new Uint8Array(40_000)
  }
  const { crate } = await decodePublish(source(), { ...LIMITS, crateBytes: 400_000 })
  await crate[Symbol.asyncIterator]().next()
  assert.equal(sent, 0)
})

test('small chunks of the crate are handed on together', async () => {
  const crate = Uint8Array.from({ length: 40_000 }, (_, at) => at)
  const body = encodePublish(METADATA, crate)
  async function* source() {
    for (let at = 0; at < body.byteLength; at += 5000) yield body.subarray(at, at + 5000)
  }
  const chunks: Uint8Array[] = []
  for await (const chunk of (await decodePublish(source(), { ...LIMITS, crateBytes: 40_000 }))
    .crate)
    chunks.push(Buffer.from(chunk))
  assert.ok(chunks.length === 3, `${chunks.length} chunks`)
  assert.deepEqual(Buffer.concat(chunks), Buffer.from(crate))
})
