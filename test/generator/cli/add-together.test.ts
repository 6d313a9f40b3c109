import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sha256 } from '../../../core/sha256.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { buildCrate } from '../../support/crate-builder.ts'
import { plimsoll, serve } from '../../support/plimsoll.ts'
import { registryFolder } from '../../support/registry-folder.ts'
import { encodePublish, plainMetadata } from '../../support/release.ts'
import { until } from '../../support/until.ts'

const ENV = { PLIMSOLL_GIT_INDEX: 'off' }
const VERSIONS = Array.from({ length: 12 }, (_, minor) => `1.${minor}.0`)
const EXISTS = (version: string) =>
  `\`race\` ${version} already exists; a published version never changes, publish a new one`

/** What became of a version: won, or the objections. */
type Fate = 'won' | readonly string[]

const bytesOf = (who: string, version: string) =>
  buildCrate({
    name: 'race',
    version,
    files: { 'src/lib.rs': `pub const WHO: &str = "${who}";\n` },
  })

/** Adds a folder in a process of its own. */
async function add(folder: string, ...more: string[]): Promise<ReadonlyMap<string, Fate>> {
  const run = await plimsoll(folder, ['add', 'crates', '--json', ...more], ENV)
  assert.ok(run.stdout, `add printed no report, ended with ${run.code} and said ${run.stderr}`)
  const report = JSON.parse(run.stdout) as { version: string; outcome: string; errors?: string[] }[]
  assert.equal(run.code, report.some(line => line.errors) ? 1 : 0, run.stderr)
  return new Map(report.map(({ version, errors }) => [version, errors ?? 'won']))
}

test('a process adds what a daemon takes in at the same time: of each version, one wins', async t => {
  const { folder, dir, ok, put } = await registryFolder(t)
  for (const version of VERSIONS) put(`crates/race-${version}.crate`, bytesOf('process', version))
  await ok('user', 'add', 'root', '--admin')
  const token = (await ok('token', 'create', '--user', 'root')).trim()
  const { url } = await serve(new Cleanup(t), dir, ENV)
  const adding = add(folder, '--dir', dir)
  const shown = (version: string) => join(dir, 'public', 'crates', 'race', `race-${version}.crate`)
  // The process takes a while to start: the daemon begins when it has begun.
  const first = shown(VERSIONS[0] ?? '')
  const begun = await Promise.race([adding, until(() => existsSync(first), `no ${first}`)])
  const daemons = new Map<string, Fate>()
  for (const version of VERSIONS.toReversed()) {
    const body = encodePublish(plainMetadata('race', version), bytesOf('daemon', version))
    const init = { method: 'PUT', headers: { authorization: token }, body }
    const answer = await (await fetch(`${url}/api/v1/crates/new`, init)).json()
    const { errors } = answer as { errors?: { detail: string }[] }
    daemons.set(version, errors?.map(error => error.detail) ?? 'won')
  }
  const processes = await adding
  assert.equal(begun, undefined, 'they were at it together')
  const index = readFileSync(join(dir, 'public', 'index', 'ra', 'ce', 'race'), 'utf8')
  assert.equal(index.trimEnd().split('\n').length, VERSIONS.length)
  for (const version of VERSIONS) {
    const [one, two] = [processes.get(version), daemons.get(version)]
    const winner = one === 'won' ? 'process' : 'daemon'
    const lost = [one, two].filter(fate => fate !== 'won')
    assert.deepEqual(lost, [[EXISTS(version)]], version)
    const bytes = Buffer.from(bytesOf(winner, version))
    assert.deepEqual(readFileSync(shown(version)), bytes)
    assert.match(index, new RegExp(`"vers":"${version}",.*${sha256(bytes)}`))
  }
  const incoming = readdirSync(join(dir, 'crates', 'incoming'))
  assert.deepEqual(incoming, [], 'the losers leave no half-written file')
  await ok('build')
  assert.match(await ok('verify'), /^everything agrees$/m)
})
