// Mirrors daemon/api/publish.ts: what real Cargo shows of objections
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openStatic } from '../../conformance/driver-files.ts'
import { Cargo } from '../../support/cargo.ts'
import { Cleanup } from '../../support/cleanup.ts'
import type { Run } from '../../support/command.ts'
import { type CrateText, writeProject, writeWorkspace } from '../../support/project.ts'
import { scratch } from '../../support/scratch.ts'
import { servedFolder } from '../../support/served-folder.ts'

const PUBLISH = ['publish', '--no-verify', '--allow-dirty', '--registry', 'test']
const BARE = 'edition = "2021"'

/** A registry with a policy, a stand-in for crates.io with crates of these names, and a cargo for each user. */
async function scene(t: TestContext, env: NodeJS.ProcessEnv, onCratesIo: readonly string[] = []) {
  const served = await servedFolder(t, env)
  const cleanup = new Cleanup(t)
  const folder = scratch(cleanup)
  const cratesIo = await openStatic(cleanup, join(folder, 'crates-io'))
  let count = 0
  const cargo = async (login: string): Promise<Cargo> => {
    await served.ok('user', 'add', login)
    const token = await served.ok('token', 'create', '--user', login)
    const registries = { test: `sparse+${served.url}/index/` }
    return new Cargo(join(folder, `home${count++}`), {
      registries,
      cratesIo: cratesIo.indexUrl,
      tokens: { test: token },
    })
  }
  const alice = await cargo('alice')
  const project = (crate: CrateText) => writeProject(join(folder, `${count++}`), crate)
  if (onCratesIo.length > 0)
    await cratesIo.publish(
      alice,
      onCratesIo.map(name => project({ name })),
    )
  const workspace = (...crates: CrateText[]) => {
    const place = join(folder, `${count++}`)
    writeWorkspace(place, crates)
    return place
  }
  return { served, alice, cargo, project, workspace }
}

/** What cargo printed as warnings of the registry. */
function warnings({ stderr }: Run): string[] {
  return [...stderr.matchAll(/^warning: (.*)$/gm)].map(match => match[1] ?? '')
}

/** What the registry objected to, as cargo shows it. */
function refusal({ stderr }: Run): string {
  return (
    /the remote server responded with an error: (.*)$/m.exec(stderr)?.[1] ?? assert.fail(stderr)
  )
}

/** A manifest of the least that cargo takes. */
function bare(name: string, more = ''): CrateText {
  return {
    name,
    files: { 'Cargo.toml': `[package]\nname = "${name}"\nversion = "1.0.0"\n${BARE}\n${more}\n` },
  }
}

const FAULTY = 'license = "My own"\nhomepage = "ftp://example.com"\nkeywords = ["json parser"]'

test('preset private: what falls short is taken, and every warning arrives in the output of cargo publish', async t => {
  const { alice, cargo, project } = await scene(t, {
    PLIMSOLL_POLICY_CATEGORIES: 'parsing',
    PLIMSOLL_POLICY_PRESET: 'private',
  })
  const faulty = bare(
    'harbour',
    `${FAULTY}\ncategories = ["parsing", "harbours"]\n[badges]\nsparkles = {}`,
  )
  const published = await alice.ok(project(faulty).folder, ...PUBLISH)
  const said = warnings(published)
  for (const part of [
    /^the crate has no description; /,
    /^the license `My own` is not an SPDX expression; /,
    /^`homepage` .*`ftp:\/\/example\.com`/,
    /^the keyword `json parser` /,
    /the following are not valid category slugs and were ignored: harbours/,
    /the following are not valid badges and were ignored: sparkles/,
  ]) {
    assert.equal(
      said.filter(line => part.test(line)).length,
      1,
      `${part} is said once in\n${published.stderr}`,
    )
  }
  const bob = await cargo('bob')
  const alike = await bob.ok(project({ name: 'habrour' }).folder, ...PUBLISH)
  assert.deepEqual(
    warnings(alike).filter(line => line.includes('`harbour`')).length,
    1,
    alike.stderr,
  )
  const clean = await alice.ok(project({ name: 'decent-crate' }).folder, ...PUBLISH)
  assert.deepEqual(warnings(clean), [])
})

test('preset public: the same is refused, all of it at once; look-alikes by setting', async t => {
  const { alice, cargo, project } = await scene(t, {
    PLIMSOLL_POLICY_PRESET: 'public',
    PLIMSOLL_POLICY_LOOK_ALIKES: 'error',
  })
  const refused = refusal(await alice.fails(project(bare('harbour', FAULTY)).folder, ...PUBLISH))
  for (const part of [
    'the crate has no description',
    'the license `My own`',
    '`ftp://example.com`',
    'keyword `json parser`',
  ]) {
    assert.ok(refused.includes(part), `${part} in ${refused}`)
  }
  await alice.ok(project({ name: 'harbour' }).folder, ...PUBLISH)
  const bob = await cargo('bob')
  const alike = await bob.fails(project({ name: 'habrour' }).folder, ...PUBLISH)
  assert.match(refusal(alike), /`habrour`.*`harbour`/)
  const reserved = await alice.fails(project({ name: 'lpt1' }).folder, ...PUBLISH)
  assert.match(refusal(reserved), /`lpt1`/)
})

/** A workspace whose member `app` names its sister by path alone. */
const TRAP: CrateText[] = [
  { name: 'app', toml: '[dependencies]\nsister = { path = "../sister", version = "1.0" }' },
  { name: 'sister' },
]
const EXPLAINED =
  'the dependency `sister` is taken from crates.io, but this registry has a crate of that name; if that one is meant, as for a member of your workspace, add `registry = "…"` with the name of this registry to the dependency and publish again'

test('a workspace member named by path alone: crates.io has none of that name, so cargo itself stops', async t => {
  const { alice, workspace } = await scene(t, {}, ['something-else'])
  const folder = workspace(...TRAP)
  await alice.ok(folder, ...PUBLISH, '-p', 'sister')
  const stopped = await alice.fails(folder, ...PUBLISH, '-p', 'app')
  assert.match(stopped.stderr, /no matching package named `sister` found/)
})

for (const preset of ['private', 'public'] as const) {
  test(`a workspace member named by path alone, and crates.io has one of that name; preset ${preset}`, async t => {
    const { alice, workspace, served } = await scene(t, { PLIMSOLL_POLICY_PRESET: preset }, [
      'sister',
    ])
    const folder = workspace(...TRAP)
    if (preset === 'public') {
      const before = await alice.fails(folder, ...PUBLISH, '-p', 'app')
      assert.equal(
        refusal(before),
        'the dependency `sister` comes from another registry, https://github.com/rust-lang/crates.io-index, which this one does not allow; publish it here and add `registry = "…"` with the name of this registry to the dependency, or ask the operator to add that URL to `policy.allowed_registries`',
      )
    }
    await alice.ok(folder, ...PUBLISH, '-p', 'sister')
    const ended = await alice.run(folder, ...PUBLISH, '-p', 'app')
    if (preset === 'public') assert.equal(refusal(ended), EXPLAINED)
    else assert.deepEqual([ended.code, warnings(ended)], [0, [EXPLAINED]], ended.stderr)
    const index = await fetch(`${served.url}/index/3/a/app`)
    assert.equal(index.status, preset === 'public' ? 404 : 200)
    // What the sentence says is what helps.
    const mended = workspace(
      {
        name: 'app',
        version: '1.0.1',
        toml: '[dependencies]\nsister = { path = "../sister", version = "1.0", registry = "test" }',
      },
      { name: 'sister' },
    )
    assert.deepEqual(warnings(await alice.ok(mended, ...PUBLISH, '-p', 'app')), [])
  })
}
