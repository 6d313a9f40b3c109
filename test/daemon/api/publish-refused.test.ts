import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { buildCrate, buildEvil, type Trick } from '../../support/crate-builder.ts'
import { TestRegistry } from '../../support/registry.ts'
import {
  encodePublish,
  plainMetadata,
  publishRequest,
  sentDependency,
  u32,
} from '../../support/release.ts'

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
      '3 bytes',
      pieces('abc'),
      'the publish request ends inside the length of the metadata, for which 4 bytes were announced',
    ],
    [
      'metadata cut off',
      good.subarray(0, 50),
      `the publish request ends inside the metadata, for which ${json} bytes were announced`,
    ],
    [
      'nothing after the metadata',
      good.subarray(0, 4 + json),
      'the publish request ends inside the length of the .crate, for which 4 bytes were announced',
    ],
    [
      'crate cut off',
      good.subarray(0, -1),
      `the publish request ends inside the .crate, for which ${crate} bytes were announced`,
    ],
    [
      'crate absent',
      good.subarray(0, 8 + json),
      `the publish request ends inside the .crate, for which ${crate} bytes were announced`,
    ],
    [
      'one byte more',
      pieces(good, 'x'),
      `the publish request continues after the ${crate} bytes announced for the .crate`,
    ],
    [
      'two requests in one',
      pieces(good, good),
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
  const semver = (text: string) =>
    `\`${text}\` is not a valid SemVer 2.0.0 version; write it as MAJOR.MINOR.PATCH, for example \`1.0.0\``
  const rows: [what: string, metadata: unknown, expected: string[]][] = [
    ['an array', [], missing],
    ['an empty object', {}, missing],
    ['null', null, ['the publish metadata cannot be read: it is null instead of Object']],
    ['a number', 5, ['the publish metadata cannot be read: it is 5 instead of Object']],
    ['name a number', { ...good, name: 5 }, [wrong('name', 'it is 5 instead of string')]],
    ['vers null', { ...good, vers: null }, [wrong('vers', 'it is null instead of string')]],
    [
      'keyword a number',
      { ...good, keywords: ['a', 1] },
      [wrong('keywords.1', 'it is 1 instead of string')],
    ],
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
        semver('1.0'),
      ],
    ],
    ['name empty', { ...good, name: '' }, ['a crate name cannot be empty']],
    [
      'name a path',
      { ...good, name: '../x' },
      ['the crate name `../x` contains `.`; only ASCII letters, digits, `-` and `_` are allowed'],
    ],
    [
      'name of 65 characters',
      { ...good, name: 'a'.repeat(65) },
      [`the crate name \`${'a'.repeat(65)}\` has 65 characters; at most 64 are allowed`],
    ],
    ['version with a v', { ...good, vers: 'v1.0.0' }, [semver('v1.0.0')]],
    ['version with a path', { ...good, vers: '1.0.0/../2' }, [semver('1.0.0/../2')]],
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
  const notBelow = (path: string) =>
    `\`${path}\` in the crate file is not below \`evil-1.0.0/\`; everything must be in that one folder`
  const type = (what: string) =>
    `\`evil-1.0.0/odd\` in the crate file is a ${what}; only regular files and folders are allowed`
  const trailing =
    'the crate file has data after its end, which some tools would read and others would not; make it again with `cargo package`'
  const cutOff = 'the crate file ends too early because it was cut off; create or upload it again'
  const rows: [Trick, string][] = [
    ['symlink', type('symbolic link')],
    ['hard link', type('hard link')],
    ['fifo', type('named pipe')],
    ['character device', type('character device')],
    [
      'parent path',
      'the path `evil-1.0.0/../outside.rs` in the crate file is not allowed: it contains `..`',
    ],
    [
      'absolute path',
      'the path `/etc/cron.d/evil` in the crate file is not allowed: it is absolute',
    ],
    [
      'backslash path',
      'the path `evil-1.0.0/..\\outside.rs` in the crate file is not allowed: it contains a backslash',
    ],
    ['wrong top folder', notBelow('other-1.0.0/Cargo.toml')],
    ['two top folders', notBelow('other-1.0.0/src/lib.rs')],
    ['no manifest', 'the crate file has no `Cargo.toml` in its top folder'],
    [
      'lower-case manifest',
      'the manifest in the crate file is called `cargo.toml`; it must be called `Cargo.toml`',
    ],
    [
      'two manifests',
      'the crate file has more than one manifest in its top folder (`Cargo.toml`, `CARGO.toml`); keep `Cargo.toml` only',
    ],
    ['truncated gzip', cutOff],
    ['truncated tar', cutOff],
    [
      'damaged gzip',
      'the crate file is damaged (its checksum does not fit its contents); create or upload it again',
    ],
    ['data after tar', trailing],
    ['data after gzip', trailing],
    ['second gzip member', trailing],
    [
      'not gzip',
      'the crate file is not a gzip-compressed archive; upload the `.crate` that `cargo package` makes',
    ],
  ]
  for (const [trick, expected] of rows) {
    await t.test(trick, () =>
      refused(test, alice, encodePublish(plainMetadata('evil', '1.0.0'), buildEvil(trick)), [
        expected,
      ]),
    )
  }
  await t.test('bomb', async () => {
    const bomb = buildEvil('bomb')
    const most = 1_000_000
    const expected = `the crate file unpacks to more than ${most} bytes (\`limits.unpacked_bytes\`); leave files out with \`package.exclude\``
    await refused(test, alice, encodePublish(plainMetadata('evil', '1.0.0'), bomb), [expected])
  })
})

const DEMO = sentDependency('demo')
const NEEDS_DEMO =
  '[dependencies]\ndemo = { version = "1", registry-index = "sparse+http://crates.test/index/" }\n'

test('metadata and manifest that say different things', async t => {
  const { test, alice } = await busy(t)
  const base = { name: 'fresh', version: '1.0.0' }
  const plain = plainMetadata('fresh', '1.0.0')
  const differs = (field: string, said: string, found: string) =>
    `\`${field}\` of the dependency \`demo\` is \`${said}\` in the publish metadata, but \`${found}\` in the \`Cargo.toml\` of the crate file`
  const rows: [what: string, metadata: object, manifest: string, expected: string[]][] = [
    [
      'another name and version inside',
      {},
      '[package]\nname = "liar"\nversion = "9.9.9"\n',
      ['the crate file was sent as fresh 1.0.0, but its `Cargo.toml` says liar 9.9.9'],
    ],
    [
      'a dependency only in the metadata',
      { deps: [DEMO] },
      '',
      [
        'the dependency `demo` is in the publish metadata, but not in the `Cargo.toml` of the crate file',
      ],
    ],
    [
      'a dependency only in the manifest',
      {},
      NEEDS_DEMO,
      [
        'the dependency `demo` is in the `Cargo.toml` of the crate file, but not in the publish metadata',
      ],
    ],
    [
      'a dependency that differs in three fields',
      { deps: [{ ...DEMO, version_req: '^2', optional: true, features: ['x'] }] },
      NEEDS_DEMO,
      [
        differs('version_req', '"^2"', '"^1"'),
        differs('features', '["x"]', '[]'),
        differs('optional', 'true', 'false'),
      ],
    ],
    [
      'a feature',
      { features: { a: ['b', 'dep:x'], b: [] } },
      '[features]\na = ["b"]\nb = []\n',
      [
        'the feature `a` is `["b","dep:x"]` in the publish metadata, but `["b"]` in the `Cargo.toml` of the crate file',
      ],
    ],
  ]
  for (const [what, metadata, manifest, expected] of rows) {
    const body = encodePublish({ ...plain, ...metadata }, buildCrate({ ...base, manifest }))
    await t.test(what, () => refused(test, alice, body, expected))
  }
})

test('what is there already', async t => {
  const { test, alice, bob } = await busy(t)
  const other = { files: { 'src/lib.rs': 'pub fn other() {}' } }
  const exists = '`demo` 1.0.0 already exists; a published version never changes, publish a new one'
  const notOwner =
    '`bob` is not an owner of `demo`; ask one of its owners for `cargo owner --add bob`'
  const meta = (version: string, existing: string) =>
    `\`${version.split(' ')[0]}\` ${version.split(' ')[1]} differs from the existing ${existing} only in build metadata, which does not make it another version`
  const rows: [what: string, token: string, body: Uint8Array<ArrayBuffer>, expected: string[]][] = [
    [
      'the version, with other bytes',
      alice,
      publishRequest({ name: 'demo', version: '1.0.0', ...other }),
      [exists],
    ],
    [
      'with build metadata',
      alice,
      publishRequest({ name: 'demo', version: '1.0.0+x' }),
      [meta('demo 1.0.0+x', '1.0.0')],
    ],
    [
      'with other build metadata',
      alice,
      publishRequest({ name: 'meta', version: '1.0.0+two' }),
      [meta('meta 1.0.0+two', '1.0.0+one')],
    ],
    [
      'without its build metadata',
      alice,
      publishRequest({ name: 'meta', version: '1.0.0' }),
      [meta('meta 1.0.0', '1.0.0+one')],
    ],
    [
      'the same bytes, by somebody else',
      bob,
      publishRequest({ name: 'demo', version: '1.0.0' }),
      [notOwner],
    ],
    [
      'other bytes, by somebody else',
      bob,
      publishRequest({ name: 'demo', version: '1.0.0', ...other }),
      [notOwner, exists],
    ],
    [
      'a new version, by somebody else',
      bob,
      publishRequest({ name: 'demo', version: '2.0.0' }),
      [notOwner],
    ],
  ]
  for (const [what, token, body, expected] of rows)
    await t.test(what, () => refused(test, token, body, expected))
  for (const name of ['foo-bar', 'FOO-BAR', 'Foo_Bar', 'foo_bar']) {
    await t.test(`the name ${name} beside Foo-Bar`, async () => {
      const before = await test.everything()
      const { status, body } = await test.publish(alice, { name, version: '0.9.0' })
      assert.equal(status, 200)
      assert.deepEqual(
        body.errors?.map(error => error.detail),
        [
          `\`${name}\` collides with the existing crate \`Foo-Bar\`: names that differ only in case or in \`-\` and \`_\` are one name; publish it as \`Foo-Bar\` or choose another name`,
        ],
      )
      assert.deepEqual(await test.everything(), before)
    })
  }
  for (const name of ['std', 'STD', 'proc-macro', 'nul', 'COM1']) {
    const expected = [`the crate name \`${name}\` is reserved; choose another name`]
    await t.test(`the reserved name ${name}`, () =>
      refused(test, alice, publishRequest({ name, version: '1.0.0' }), expected),
    )
  }
})

test('all objections of a request at once: rights, version, metadata and policy', async t => {
  const { test, bob } = await busy(t)
  const manifest =
    'keywords = ["a","b","c","d","e","f"]\n[dependencies]\nnowhere = { version = "1", registry-index = "sparse+http://crates.test/index/" }\n'
  const crate = buildCrate({ name: 'demo', version: '1.0.0', manifest })
  await refused(
    test,
    bob,
    encodePublish({ ...plainMetadata('demo', '1.0.0'), deps: [DEMO] }, crate),
    [
      '`bob` is not an owner of `demo`; ask one of its owners for `cargo owner --add bob`',
      '`demo` 1.0.0 already exists; a published version never changes, publish a new one',
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
  const notOwner = [
    '`bob` is not an owner of `demo`; ask one of its owners for `cargo owner --add bob`',
  ]
  await refused(test, bob, publishRequest({ name: 'demo', version: '2.0.0' }), notOwner, 403)
  const exists = [
    '`demo` 1.0.0 already exists; a published version never changes, publish a new one',
  ]
  const files = { 'src/lib.rs': 'pub fn other() {}' }
  await refused(test, alice, publishRequest({ name: 'demo', version: '1.0.0', files }), exists, 409)
  const reserved = ['the crate name `std` is reserved; choose another name']
  await refused(test, alice, publishRequest({ name: 'std', version: '1.0.0' }), reserved, 400)
})
