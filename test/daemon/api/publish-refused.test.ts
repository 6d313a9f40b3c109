import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { buildCrate, buildEvil, type CrateParts, type Trick } from '../../support/crate-builder.ts'
import { TestRegistry } from '../../support/registry.ts'
import {
  encodePublish,
  plainMetadata,
  publishRequest,
  sentDependency,
  u32,
} from '../../support/release.ts'

const EXISTS = '`demo` 1.0.0 already exists; a published version never changes, publish a new one'
const NOT_OWNER =
  '`bob` is not an owner of `demo`; ask one of its owners for `cargo owner --add bob`'
const OTHER_BYTES = {
  name: 'demo',
  version: '1.0.0',
  files: { 'src/lib.rs': 'pub fn other() {}' },
}

/** A registry in which alice and bob have published, and the tokens of several people. */
async function busy(t: TestContext, env: Record<string, string> = {}) {
  const limits = {
    PLIMSOLL_LIMITS_CRATE_BYTES: '100000',
    PLIMSOLL_LIMITS_UNPACKED_BYTES: '1000000',
  }
  const test = await TestRegistry.open(t, { env: { ...limits, ...env } })
  const [alice, bob] = [await test.user('alice'), await test.user('bob')]
  await test.publish(alice, { name: 'demo', version: '1.0.0' })
  await test.publish(alice, { name: 'meta', version: '1.0.0+one' })
  await test.publish(alice, { name: 'Foo-Bar', version: '0.1.0' })
  await test.publish(bob, { name: 'bobs', version: '1.0.0' })
  return { test, alice, bob }
}

/** Sends a body and asserts the objections, all of them, and that nothing at all was left behind. */
async function refused(
  test: TestRegistry,
  token: string | null,
  body: RequestInit['body'],
  expected: readonly string[],
  status = 200,
): Promise<void> {
  const before = await test.everything()
  const answer = await test.publishBody(token, body)
  assert.deepEqual(answer, { status, body: { errors: expected.map(detail => ({ detail })) } })
  assert.deepEqual(await test.everything(), before)
}

/** A request body of these pieces. */
function pieces(...parts: (string | Uint8Array)[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.concat(parts.map(part => Buffer.from(part))))
}

test('frames that are broken', async t => {
  const { test, alice } = await busy(t)
  const good = publishRequest({ name: 'fresh', version: '1.0.0' })
  const json = good.length - 8 - buildCrate({ name: 'fresh', version: '1.0.0' }).length
  const crate = good.length - json - 8
  const rows: [what: string, body: RequestInit['body'], expected: string, status?: number][] = [
    [
      'no body',
      null,
      'the publish request ends inside the length of the metadata, for which 4 bytes were announced',
    ],
    [
      'crate cut off',
      good.subarray(0, -1),
      `the publish request ends inside the .crate, for which ${crate} bytes were announced`,
    ],
    [
      'one byte more',
      pieces(good, 'x'),
      `the publish request continues after the ${crate} bytes announced for the .crate`,
    ],
    [
      '4 GiB of metadata announced',
      pieces(u32(0xffffffff), '{}'),
      'the publish metadata has 4294967295 bytes; at most 1048576 are allowed (`limits.metadata_bytes`)',
      413,
    ],
    [
      'a crate beyond the limit announced',
      pieces(good.subarray(0, 4 + json), u32(100_001)),
      'the .crate is bigger than the 100000 bytes allowed here; leave out what is not needed (`exclude` in Cargo.toml) or ask the operator to raise `limits.crate_bytes`',
      413,
    ],
    [
      'an empty crate',
      pieces(good.subarray(0, 4 + json), u32(0)),
      'the crate file is not a gzip-compressed archive; upload the `.crate` that `cargo package` makes',
    ],
  ]
  for (const [what, body, expected, status] of rows) {
    await t.test(what, () => refused(test, alice, body, [expected], status))
  }
})

test('metadata that is not what it should be', async t => {
  const { test, alice } = await busy(t)
  const crate = buildCrate({ name: 'fresh', version: '1.0.0' })
  const good = plainMetadata('fresh', '1.0.0')
  const wrong = (field: string, reason: string) =>
    `\`${field}\` of the publish metadata is not valid: ${reason}`
  const missing = [wrong('name', 'it is missing'), wrong('vers', 'it is missing')]
  const rows: [what: string, metadata: unknown, expected: string[]][] = [
    ['an array', [], missing],
    ['an empty object', {}, missing],
    ['null', null, ['the publish metadata cannot be read: it is null instead of Object']],
    ['name a number', { ...good, name: 5 }, [wrong('name', 'it is 5 instead of string')]],
    ['vers null', { ...good, vers: null }, [wrong('vers', 'it is null instead of string')]],
    [
      'dependencies',
      { ...good, deps: [{ name: 'a' }, 5, { name: 'b', version_req: '1', kind: 'odd' }] },
      [
        wrong('deps.0.version_req', 'it is missing'),
        wrong('deps.1', 'it is 5 instead of Object'),
        wrong('deps.2.kind', 'it is "odd" instead of ("normal" | "build" | "dev")'),
      ],
    ],
    [
      'five faults at once',
      { ...good, name: '9x', vers: '1.0', deps: 'x', authors: 'y', license: [] },
      [
        wrong('deps', 'it is "x" instead of Array'),
        wrong('authors', 'it is "y" instead of Array'),
        wrong('license', 'it is Array instead of string'),
        'the crate name `9x` must start with an ASCII letter',
        '`1.0` is not a valid SemVer 2.0.0 version; write it as MAJOR.MINOR.PATCH, for example `1.0.0`',
      ],
    ],
    [
      'name a path',
      { ...good, name: '../x' },
      ['the crate name `../x` contains `.`; only ASCII letters, digits, `-` and `_` are allowed'],
    ],
  ]
  for (const [what, metadata, expected] of rows) {
    await t.test(what, () => refused(test, alice, encodePublish(metadata, crate), expected))
  }
  await t.test('keys of prototypes are keys like others', async () => {
    const json = JSON.stringify(good).replace(
      '"deps":[]',
      '"deps":[],"__proto__":{"deps":5},"constructor":5',
    )
    const body = pieces(u32(json.length), json, u32(crate.length), crate)
    assert.equal((await test.publishBody(alice, body)).body.errors, undefined)
  })
  await t.test('at most 20 objections to the types of fields', async () => {
    const body = encodePublish({ ...good, keywords: Array(1000).fill(1) }, crate)
    assert.equal((await test.publishBody(alice, body)).body.errors?.length, 20)
  })
})

test('a crate file that is evil, whatever is said of it', async t => {
  const { test, alice } = await busy(t)
  const rows: [Trick, string][] = [
    [
      'symlink',
      '`evil-1.0.0/odd` in the crate file is a symbolic link; only regular files and folders are allowed',
    ],
    [
      'parent path',
      'the path `evil-1.0.0/../outside.rs` in the crate file is not allowed: it contains `..`',
    ],
    [
      'wrong top folder',
      '`other-1.0.0/Cargo.toml` in the crate file is not below `evil-1.0.0/`; everything must be in that one folder',
    ],
    ['no manifest', 'the crate file has no `Cargo.toml` in its top folder'],
    [
      'truncated gzip',
      'the crate file ends too early because it was cut off; create or upload it again',
    ],
    [
      'damaged gzip',
      'the crate file is damaged (its checksum does not fit its contents); create or upload it again',
    ],
    [
      'data after gzip',
      'the crate file has data after its end, which some tools would read and others would not; make it again with `cargo package`',
    ],
    [
      'bomb',
      'the crate file unpacks to more than 1000000 bytes (`limits.unpacked_bytes`); leave files out with `package.exclude`',
    ],
  ]
  for (const [trick, expected] of rows) {
    const body = encodePublish(plainMetadata('evil', '1.0.0'), buildEvil(trick))
    await t.test(trick, () => refused(test, alice, body, [expected]))
  }
})

test('what the crate file and its metadata say differently', async t => {
  const { test, alice } = await busy(t)
  const identity = 'the crate file was sent as fresh 1.0.0, but its `Cargo.toml` says liar 9.9.9'
  const feature =
    'the feature `a` is `["b","dep:x"]` in the publish metadata, but `["b"]` in the `Cargo.toml` of the crate file'
  const rows: [what: string, metadata: object, manifest: string, expected: string][] = [
    ['name and version', {}, '[package]\nname = "liar"\nversion = "9.9.9"\n', identity],
    [
      'a feature',
      { features: { a: ['b', 'dep:x'], b: [] } },
      '[features]\na = ["b"]\nb = []\n',
      feature,
    ],
  ]
  for (const [what, metadata, manifest, expected] of rows) {
    const body = publishRequest({ name: 'fresh', version: '1.0.0', manifest }, metadata)
    await t.test(what, () => refused(test, alice, body, [expected]))
  }
})

test('what is there already', async t => {
  const { test, alice, bob } = await busy(t)
  const rows: [what: string, token: string, parts: CrateParts, expected: string[]][] = [
    ['other bytes, by somebody else', bob, OTHER_BYTES, [NOT_OWNER, EXISTS]],
    ['the same bytes, by somebody else', bob, { name: 'demo', version: '1.0.0' }, [NOT_OWNER]],
    [
      'other build metadata',
      alice,
      { name: 'meta', version: '1.0.0+two' },
      [
        '`meta` 1.0.0+two differs from the existing 1.0.0+one only in build metadata, which does not make it another version',
      ],
    ],
    [
      'a name that is spelled differently',
      alice,
      { name: 'foo_bar', version: '0.9.0' },
      [
        '`foo_bar` collides with the existing crate `Foo-Bar`: names that differ only in case or in `-` and `_` are one name; publish it as `Foo-Bar` or choose another name',
      ],
    ],
  ]
  for (const [what, token, parts, expected] of rows)
    await t.test(what, () => refused(test, token, publishRequest(parts), expected))
})

test('all objections of a request at once: rights, version, metadata and policy', async t => {
  const { test, bob } = await busy(t)
  const manifest =
    'keywords = ["a","b","c","d","e","f"]\n[dependencies]\nnowhere = { version = "1", registry-index = "sparse+http://crates.test/index/" }\n'
  const crate = buildCrate({ name: 'demo', version: '1.0.0', manifest })
  await refused(
    test,
    bob,
    encodePublish({ ...plainMetadata('demo', '1.0.0'), deps: [sentDependency('demo')] }, crate),
    [
      NOT_OWNER,
      EXISTS,
      'the dependency `nowhere` is in the `Cargo.toml` of the crate file, but not in the publish metadata',
      'the dependency `demo` is in the publish metadata, but not in the `Cargo.toml` of the crate file',
      'the crate has 6 keywords; at most 5 are allowed (`policy.keywords_max`)',
      'this registry has no crate `nowhere`, on which the crate depends; publish that one first, or name the registry it comes from',
    ],
  )
})

test('the same bytes again by the same owner: success, a warning, and nothing changed', async t => {
  const { test, alice } = await busy(t)
  const before = await test.everything()
  assert.deepEqual(await test.publish(alice, { name: 'demo', version: '1.0.0' }), {
    status: 200,
    body: {
      warnings: {
        invalid_categories: [],
        invalid_badges: [],
        other: ['`demo` 1.0.0 was published before with the same bytes; nothing has changed'],
      },
    },
  })
  assert.deepEqual(await test.everything(), before)
})

test('with honest statuses (api.error_status = "http") the bodies stay what they are', async t => {
  const { test, alice, bob } = await busy(t, { PLIMSOLL_API_ERROR_STATUS: 'http' })
  const update = publishRequest({ name: 'demo', version: '2.0.0' })
  await refused(test, bob, update, [NOT_OWNER], 403)
  await refused(test, alice, publishRequest(OTHER_BYTES), [EXISTS], 409)
  const reserved = ['the crate name `std` is reserved; choose another name']
  await refused(test, alice, publishRequest({ name: 'std', version: '1.0.0' }), reserved, 400)
})
