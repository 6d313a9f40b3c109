import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { parse } from 'yaml'
import { CRATES_IO } from '../../../../core/index-url.ts'
import { Cargo, cargoIsAtLeast } from '../../../support/cargo.ts'
import { Cleanup } from '../../../support/cleanup.ts'
import { expectCode, run } from '../../../support/command.ts'
import { buildCrate, type CrateParts } from '../../../support/crate-builder.ts'
import { FileServer } from '../../../support/file-server.ts'
import { none } from '../../../support/none.ts'
import { plimsollHere } from '../../../support/program.ts'
import { writeProject } from '../../../support/project.ts'
import { folderOf } from '../../../support/workplace.ts'

const TOKEN = 'secret'
const SKIP = cargoIsAtLeast(74) ? false : 'this cargo reads no sparse index, or has no providers'

interface Scene {
  readonly folder: string
  readonly url: string
  /** Builds a tree with these crates at a path below the server. */
  tree(path: string, crates: readonly CrateParts[]): Promise<void>
  /** Prints the block of a registry with these lines in its settings. */
  config(settings: string, ...args: readonly string[]): Promise<string>
  /** A project that has the block as its configuration, and a cargo that has logged in. */
  project(block: string, dependencies: string, registries?: string[]): Promise<Project>
}

interface Project {
  readonly folder: string
  readonly cargo: Cargo
}

/** A file server with the trees of a registry `team` and its upstreams. */
async function scene(t: TestContext, isPrivate: boolean): Promise<Scene> {
  const folder = folderOf(t)
  const [root, dir] = [join(folder, 'root'), join(folder, 'registry')]
  for (const path of [root, dir]) mkdirSync(path)
  const token = isPrivate ? TOKEN : null
  const { url } = await FileServer.start(new Cleanup(t), root, 'etag', token)
  const env = { PLIMSOLL_AUTH_REQUIRED: String(isPrivate), PLIMSOLL_GIT_INDEX: 'off' }
  return {
    folder,
    url,
    async tree(path, crates) {
      const from = join(folder, 'crates', path)
      mkdirSync(from, { recursive: true })
      for (const crate of crates)
        writeFileSync(join(from, `${crate.name}-${crate.version}.crate`), buildCrate(crate))
      const where = ['--out', join(root, path), '--base-url', join(url, path).replace(':/', '://')]
      expectCode('build', await plimsollHere(['build', '--from', from, ...where], env), 0)
    },
    async config(settings, ...args) {
      const own = `[registry]\nname = "team"\nbase_url = "${url}"\n\n${settings}`
      writeFileSync(join(dir, 'plimsoll.toml'), own)
      return expectCode('config', await plimsollHere(['config', '--dir', dir, ...args], env), 0)
        .stdout
    },
    async project(block, dependencies, registries = ['team']) {
      const cargo = new Cargo(join(folder, 'home'), {
        registries: {},
        cratesIo: 'sparse+http://127.0.0.1:9/',
      })
      const { folder: app } = writeProject(join(folder, 'app'), {
        name: 'app',
        toml: `[dependencies]\n${dependencies}`,
      })
      mkdirSync(join(app, '.cargo'))
      writeFileSync(join(app, '.cargo', 'config.toml'), block)
      if (isPrivate) for (const registry of registries) await cargo.logIn(app, registry, TOKEN)
      return { folder: app, cargo }
    },
  }
}

const KEEL = { name: 'keel', version: '1.0.0', manifest: '[dependencies]\nplank = "1"\n' }
const PLANK = { name: 'plank', version: '1.2.0' }
const OWN = 'keel = { version = "1", registry = "team" }\n'

/** Fetches with nothing but the block, and returns the sources in the lock file by name. */
async function fetched({ cargo, folder }: Project): Promise<Record<string, string>> {
  const { stderr } = await cargo.ok(folder, 'fetch')
  none(stderr.split('\n').filter(line => line.startsWith('warning')))
  const lock = readFileSync(join(folder, 'Cargo.lock'), 'utf8')
  const packages = [...lock.matchAll(/name = "(.+)"\nversion = .*\nsource = "(.+)"\nchecksum/g)]
  return Object.fromEntries(packages.map(([, name, source]) => [name, source]))
}

for (const isPrivate of [false, true]) {
  const kind = isPrivate ? 'private' : 'public'

  test(`a ${kind} registry: the block is enough to fetch`, { skip: SKIP }, async t => {
    const { url, tree, config, project } = await scene(t, isPrivate)
    await tree('', [PLANK])
    const block = await config('')
    const app = await project(block, 'plank = { version = "1", registry = "team" }\n')
    assert.deepEqual(await fetched(app), { plank: `sparse+${url}/index/` })
  })

  test(`a ${kind} registry that answers for crates.io`, { skip: SKIP }, async t => {
    const { url, tree, config, project } = await scene(t, isPrivate)
    await tree('', [KEEL, PLANK])
    const block = await config('[upstream.crates-io]\nfallback = "serve"\n')
    const app = await project(block, `${OWN}plank = "1"\n`)
    assert.deepEqual(await fetched(app), {
      keel: `sparse+${url}/index/`,
      plank: `registry+${CRATES_IO}`,
    })
  })

  test(`a ${kind} registry with crates.io at an address of its own`, { skip: SKIP }, async t => {
    const { url, tree, config, project } = await scene(t, isPrivate)
    await tree('', [KEEL])
    await tree('upstream/crates-io', [PLANK])
    const block = await config('[upstream.crates-io]\n', '--with', 'crates-io')
    const app = await project(block, `${OWN}plank = "1"\n`, ['team', 'team-crates-io'])
    assert.deepEqual(await fetched(app), {
      keel: `sparse+${url}/index/`,
      plank: `registry+${CRATES_IO}`,
    })
  })

  test(`a ${kind} registry with the crates of another registry`, { skip: SKIP }, async t => {
    const { tree, config, project } = await scene(t, isPrivate)
    await tree('', [])
    await tree('upstream/partner', [PLANK])
    const index = 'sparse+https://crates.partner.example/index/'
    const block = await config(`[upstream.partner]\nindex = "${index}"\n`, '--with', 'partner')
    const dependency = `plank = { version = "1", registry-index = "${index}" }\n`
    const app = await project(block, dependency, ['team-partner'])
    assert.deepEqual(await fetched(app), { plank: index })
  })

  test(`workflows add the block of a ${kind} registry for Cargo`, { skip: SKIP }, async t => {
    const { folder, config } = await scene(t, isPrivate)
    const block = await config('[upstream.crates-io]\n', '--with', 'crates-io')
    const github = parse(
      await config('[upstream.crates-io]\n', '--with', 'crates-io', '--for', 'github-actions'),
    )
    const gitlab = parse(
      await config('[upstream.crates-io]\n', '--with', 'crates-io', '--for', 'gitlab-ci'),
    )
    const scripts = [github.jobs.build.steps[1].run, gitlab.build.before_script[0]]
    for (const [at, script] of scripts.entries()) {
      const home = join(folder, `home${at}`)
      const env = { PATH: process.env.PATH, HOME: home }
      expectCode('sh', await run('sh', ['-ec', script], { cwd: folder, env }), 0)
      assert.equal(readFileSync(join(home, '.cargo', 'config.toml'), 'utf8'), block)
    }
    const names = ['CARGO_REGISTRIES_TEAM_TOKEN', 'CARGO_REGISTRIES_TEAM_CRATES_IO_TOKEN']
    const secrets = names.map(name => [name, `\${{ secrets.${name} }}`])
    assert.deepEqual(github.jobs.build.env, isPrivate ? Object.fromEntries(secrets) : undefined)
  })
}

test('a registry without an address, and an upstream that is none, are told about', async t => {
  const folder = folderOf(t)
  const config = (...args: string[]) =>
    plimsollHere(['config', '--dir', 'registry', ...args], {}, { cwd: folder })
  assert.deepEqual(await config(), {
    code: 2,
    stdout: '',
    stderr: 'error: there is no file or folder registry\n',
  })
  mkdirSync(join(folder, 'registry'))
  assert.match((await config()).stderr, /^error: registry is not a registry; create one/)
  writeFileSync(join(folder, 'registry', 'plimsoll.toml'), '[upstream.crates-io]\n')
  const guessed = await config()
  assert.match(guessed.stdout, /^index = "sparse\+http:\/\/127\.0\.0\.1:8080\/index\/"$/m)
  assert.equal(
    guessed.stderr,
    'warning: `registry.base_url` is not set, so the block has the address http://127.0.0.1:8080, which users may not reach; set it, or name the address with --base-url\n',
  )
  const named = await config('--base-url', 'https://crates.example', '--json')
  assert.equal(named.stderr, '')
  const { text, ...rest } = JSON.parse(named.stdout)
  assert.match(text, /^# `plimsoll config --with crates-io` has the crates of/m)
  const index = 'sparse+https://crates.example/index/'
  assert.deepEqual(rest, { index, registries: [{ name: 'plimsoll', index }] })
  // A name of JavaScript is none of the settings.
  assert.match((await config('--with', 'constructor')).stderr, /no upstream `constructor`/)
  assert.deepEqual(await config('--with', 'other'), {
    code: 2,
    stdout: '',
    stderr: `${guessed.stderr}error: there is no upstream \`other\`; the upstreams are crates-io\n`,
  })
})
