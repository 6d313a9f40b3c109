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

const EXISTS = '`demo` 1.0.0 already exists; a published version never changes, publish a new one'
const NOT_OWNER =
  '`bob` is not an owner of `demo`; ask one of its owners to run `cargo owner --add bob`'
const OTHER_BYTES = {
  name: 'demo',
  version: '1.0.0',
  files: { 'src/lib.rs': 'pub fn other() {}' },
}

/** A registry in which alice has published `demo`, and tokens of hers and bob's. */
async function busy(t: TestContext, env: Record<string, string> = {}) {
  const limits = {
    PLIMSOLL_LIMITS_CRATE_BYTES: '100000',
    PLIMSOLL_LIMITS_UNPACKED_BYTES: '1000000',
  }
  const test = await TestRegistry.open(t, { env: { ...limits, ...env } })
  const [alice, bob] = [await test.user('alice'), await test.user('bob')]
  await test.publish(alice, { name: 'demo', version: '1.0.0' })
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

test('frames that are broken', async t => {
  const { test, alice } = await busy(t)
  const parts = { name: 'fresh', version: '1.0.0' }
  const rows: [what: string, body: RequestInit['body'], expected: string, status?: number][] = [
    [
      'crate cut off',
      publishRequest(parts).subarray(0, -1),
      `the publish request ends inside the .crate, for which ${buildCrate(parts).length} bytes were announced`,
    ],
    [
      '4 GiB of metadata announced',
      new Uint8Array(u32(0xffffffff)),
      'the publish metadata with the README has 4.0 GiB; at most 1.0 MiB are allowed (`limits.metadata_bytes`), shorten the README',
      413,
    ],
  ]
  for (const [what, body, expected, status] of rows)
    await t.test(what, () => refused(test, alice, body, [expected], status))
})

test('metadata that is not what it should be', async t => {
  const { test, alice } = await busy(t)
  const crate = buildCrate({ name: 'fresh', version: '1.0.0' })
  const good = plainMetadata('fresh', '1.0.0')
  const wrong = (field: string, reason: string) =>
    `\`${field}\` of the publish metadata is not valid: ${reason}`
  const rows: [what: string, metadata: unknown, expected: string[]][] = [
    ['an empty object', {}, [wrong('name', 'it is missing'), wrong('vers', 'it is missing')]],
    ['null', null, ['the publish metadata cannot be read: it is null instead of Object']],
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
  ]
  for (const [what, metadata, expected] of rows) {
    await t.test(what, () => refused(test, alice, encodePublish(metadata, crate), expected))
  }
  await t.test('at most 20 objections to the types of fields', async () => {
    const body = encodePublish({ ...good, keywords: Array(1000).fill(1) }, crate)
    assert.equal((await test.publishBody(alice, body)).body.errors?.length, 20)
  })
  await t.test('no more than some thousand are looked for, so that nobody waits', () => {
    const deps = Array(300_000).fill({})
    const reason = 'it has more than 2,000 faults'
    const expected = [`the publish metadata cannot be read: ${reason}`]
    return refused(test, alice, encodePublish({ ...good, deps }, crate), expected)
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
      'bomb',
      'the crate file unpacks to more than 977 KiB (`limits.unpacked_bytes`); leave files out with `package.exclude`',
    ],
  ]
  for (const [trick, expected] of rows) {
    const body = encodePublish(plainMetadata('evil', '1.0.0'), buildEvil(trick))
    await t.test(trick, () => refused(test, alice, body, [expected]))
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
    encodePublish({ ...plainMetadata('demo', '1.0.0'), deps: [sentDependency('demo')] }, crate),
    [
      NOT_OWNER,
      EXISTS,
      'the dependency `nowhere` is in the `Cargo.toml` of the crate file, but not in the publish metadata',
      'the dependency `demo` is in the publish metadata, but not in the `Cargo.toml` of the crate file',
      'the crate has 6 keywords; at most 5 are allowed (`policy.keywords_max`)',
      'this registry has no crate `nowhere`, on which the crate depends; publish that one first, or name the registry it comes from: crates.io needs no `registry`',
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
