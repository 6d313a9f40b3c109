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
  const others = onCratesIo.map(name => project({ name }))
  if (others.length > 0) await cratesIo.publish(alice, others)
  const workspace = (...crates: CrateText[]) => {
    const place = join(folder, `${count++}`)
    writeWorkspace(place, crates)
    return place
  }
  return { alice, cargo, project, workspace }
}

/** What cargo printed as warnings of the registry. */
function warnings({ stderr }: Run): string[] {
  return [...stderr.matchAll(/^warning: (.*)$/gm)].map(match => match[1] ?? '')
}

/** Cargo refuses to package a crate that has less. */
const BARE = '[package]\nname = "harbour"\nversion = "1.0.0"\nedition = "2021"\n'

const FAULTY = 'license = "My own"\nhomepage = "ftp://example.com"\nkeywords = ["json parser"]'

test('preset private: what falls short is taken, and every warning arrives in the output of cargo publish', async t => {
  const { alice, cargo, project } = await scene(t, {
    PLIMSOLL_POLICY_CATEGORIES: 'parsing',
    PLIMSOLL_POLICY_PRESET: 'private',
  })
  const manifest = `${BARE}${FAULTY}\ncategories = ["parsing", "harbours"]\n[badges]\nsparkles = {}`
  const faulty = project({ name: 'harbour', files: { 'Cargo.toml': manifest } })
  const published = await alice.ok(faulty.folder, ...PUBLISH)
  const said = warnings(published)
  for (const part of [
    /^the crate has no description; /,
    /^the license `My own` is not an SPDX expression; /,
    /^`homepage` .*`ftp:\/\/example\.com`/,
    /^the keyword `json parser` /,
    /the following are not valid category slugs and were ignored: harbours/,
    /the following are not valid badges and were ignored: sparkles/,
  ]) {
    const matching = said.filter(line => part.test(line))
    assert.equal(matching.length, 1, `${part} is said once in\n${published.stderr}`)
  }
  const bob = await cargo('bob')
  const alike = await bob.ok(project({ name: 'habrour' }).folder, ...PUBLISH)
  const suspected = warnings(alike).filter(line => line.includes('`harbour`'))
  assert.equal(suspected.length, 1, alike.stderr)
  const clean = await alice.ok(project({ name: 'decent-crate' }).folder, ...PUBLISH)
  assert.deepEqual(warnings(clean), [])
})

/** A workspace whose member `app` names its sister by path alone. */
const TRAP: CrateText[] = [
  { name: 'app', toml: '[dependencies]\nsister = { path = "../sister", version = "1.0" }' },
  { name: 'sister' },
]
const EXPLAINED =
  'the dependency `sister` is taken from crates.io, but this registry has a crate of that name; if that one is meant, as for a member of your workspace, add `registry = "…"` with the name of this registry to the dependency and publish again'

test('a workspace member named by path alone, and crates.io has one of that name', async t => {
  const { alice, workspace } = await scene(t, {}, ['sister'])
  const folder = workspace(...TRAP)
  await alice.ok(folder, ...PUBLISH, '-p', 'sister')
  assert.deepEqual(warnings(await alice.ok(folder, ...PUBLISH, '-p', 'app')), [EXPLAINED])
  // What the sentence says is what helps.
  const dependency = 'sister = { path = "../sister", version = "1.0", registry = "test" }'
  const mended = workspace(
    { name: 'app', version: '1.0.1', toml: `[dependencies]\n${dependency}` },
    { name: 'sister' },
  )
  assert.deepEqual(warnings(await alice.ok(mended, ...PUBLISH, '-p', 'app')), [])
})
