// Real Cargo: own crates and those of an upstream through one address.
import assert from 'node:assert/strict'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Cargo, cargoIsAtLeast } from '../support/cargo.ts'
import { Cleanup } from '../support/cleanup.ts'
import { FileServer } from '../support/file-server.ts'
import { MadeUpUpstream } from '../support/made-up-upstream.ts'
import { plimsollHere, serveHere } from '../support/program.ts'
import { writeProject } from '../support/project.ts'
import { scratch } from '../support/scratch.ts'
import { copyTemplate } from './registry-template.ts'

const skip = cargoIsAtLeast(68) ? false : 'this Cargo reads no sparse index'

/** How many crates of the upstream the project needs. */
const CRATES = process.env.PLIMSOLL_CONFORMANCE === 'full' ? 300 : 30

/** Starts a registry `team` and an upstream with many crates; `fallback` is the setting. */
async function start(t: TestContext, fallback: 'redirect' | 'serve' | 'off') {
  const cleanup = new Cleanup(t)
  const folder = scratch(cleanup)
  const made = await MadeUpUpstream.start(cleanup)
  for (let at = CRATES - 1; at >= 0; at--) {
    const needed = [at * 2 + 1, at * 2 + 2].filter(other => other < CRATES)
    const deps = Object.fromEntries(needed.map(other => [`public-${other}`, '1']))
    made.publish({ name: `public-${at}`, version: '1.0.0', deps })
    made.publish({ name: `public-${at}`, version: '1.1.0', deps })
  }
  const dir = join(folder, 'registry')
  const env = {
    PLIMSOLL_UPSTREAM_UP_INDEX: made.index,
    PLIMSOLL_UPSTREAM_UP_FALLBACK: fallback,
    PLIMSOLL_GIT_INDEX: 'off',
  }
  const token = await copyTemplate(cleanup, dir)
  const { url } = await serveHere(cleanup, dir, env)
  const team = `sparse+${url}/index/`
  let homes = 0
  const cargo = (cratesIo: string) =>
    new Cargo(join(folder, `home-${homes++}`), {
      registries: { team },
      cratesIo,
      tokens: { team: token },
    })
  const ours = writeProject(join(folder, 'ours'), {
    name: 'ours',
    toml: '[dependencies]\npublic-1 = "1"',
  })
  await cargo(fallback === 'off' ? made.index : team).ok(
    ours.folder,
    ...['publish', '--registry', 'team', '--no-verify', '--allow-dirty'],
  )
  // Before its first publish Cargo asks for a name, and nobody knows yet whose it is.
  made.requests.clear()
  const own = '\nours = { version = "1", registry = "team" }'
  const app = (name: string, isMixed = true) =>
    writeProject(join(folder, name), {
      name,
      toml: `[dependencies]\npublic-0 = "1"${isMixed ? own : ''}`,
    }).folder
  return { made, url, team, cargo, app, env, dir }
}

const lockOf = (folder: string) => readFileSync(join(folder, 'Cargo.lock'), 'utf8')

for (const fallback of ['redirect', 'serve'] as const) {
  test(`one address for all crates: ${fallback}`, { skip }, async t => {
    const { made, team, cargo, app } = await start(t, fallback)
    const direct = app('direct')
    await cargo(made.index).ok(direct, 'generate-lockfile')
    const folder = app('app')
    await cargo(team).ok(folder, 'check')
    assert.equal(lockOf(folder).replaceAll('"app"', '"direct"'), lockOf(direct))
    assert.match(
      lockOf(folder),
      /name = "public-0"\nversion = "1.1.0"\nsource = "registry\+https:\/\/github\.com\/rust-lang\/crates\.io-index"/,
    )
    assert.deepEqual(
      made.requests.all.filter(({ url }) => /ours/.test(url)),
      [],
      'an own name arrived at the upstream',
    )
    if (fallback === 'redirect') return
    made.isAway = true
    await cargo(team).ok(folder, 'fetch', '--locked')
    await cargo(team).ok(folder, 'check', '--locked')
    await cargo(team).ok(folder, 'vendor', '--locked', '--respect-source-config')
  })
}

test('an upstream under an address of its own', { skip }, async t => {
  const { made, url, cargo, app } = await start(t, 'off')
  const folder = app('app')
  await cargo(`sparse+${url}/upstream/up/index/`).ok(folder, 'check')
  made.isAway = true
  await cargo(`sparse+${url}/upstream/up/index/`).ok(folder, 'fetch', '--locked')
  assert.doesNotMatch(lockOf(folder), /upstream/)
})

test('a folder that was fetched ahead is enough for a plain file server', { skip }, async t => {
  const { made, env, dir, cargo, app } = await start(t, 'off')
  const site = await FileServer.start(new Cleanup(t), dir)
  const base = { ...env, PLIMSOLL_REGISTRY_BASE_URL: site.url }
  const folder = app('app', false)
  await cargo(made.index).ok(folder, 'generate-lockfile')
  const lock = lockOf(folder)
  const run = async (more: NodeJS.ProcessEnv, ...args: string[]) => {
    const ended = await plimsollHere([...args, '--dir', dir], { ...base, ...more })
    assert.equal(ended.code, 0, ended.stderr)
  }
  await run(
    { PLIMSOLL_UPSTREAM_UP_OFFLINE: 'false' },
    'upstream',
    'fetch',
    '--lock',
    join(folder, 'Cargo.lock'),
  )
  made.isAway = true
  await run({ PLIMSOLL_UPSTREAM_UP_OFFLINE: 'true' }, 'build')
  await cargo(`sparse+${site.url}/upstream/up/index/`).ok(folder, 'check', '--locked')
  // Resolved anew, the same comes out: the index is cut to what is there.
  rmSync(join(folder, 'Cargo.lock'))
  await cargo(`sparse+${site.url}/upstream/up/index/`).ok(folder, 'check')
  assert.equal(lockOf(folder), lock)
})
