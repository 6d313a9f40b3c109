// Mirrors daemon/files/advertised-paths.ts and generator/static/build.ts, with Cargo as the client.
import assert from 'node:assert/strict'
import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Cargo } from '../../support/cargo.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { buildCrate } from '../../support/crate-builder.ts'
import { filesBelow } from '../../support/folder.ts'
import { freePort } from '../../support/loopback.ts'
import { plimsollHere, serveHere } from '../../support/program.ts'
import { writeProject } from '../../support/project.ts'
import { serveFiles } from '../../support/static-server.ts'
import { folderOf } from '../../support/workplace.ts'

const TEMPLATE = '/files/{prefix}/{crate}/{version}/{sha256-checksum}'
const VERSION = '1.0.0-rc.1+b.2'

/** A Cargo with an empty home. */
function cargoAt(folder: string, name: string, base: string, tokens: Record<string, string> = {}) {
  const index = `sparse+${base}/index/`
  return new Cargo(join(folder, name), { registries: { ours: index }, cratesIo: index, tokens })
}

/** Has Cargo fetch the crate with an empty home, and compares what it unpacked. */
async function fetchIt(folder: string, base: string): Promise<void> {
  const toml = `[dependencies]\nDemo_x = { version = "=${VERSION}", registry = "ours" }\n`
  const user = writeProject(join(folder, 'user'), { name: 'user', toml })
  const cargo = cargoAt(folder, 'reader', base)
  await cargo.ok(user.folder, 'fetch')
  const [source = ''] = readdirSync(join(cargo.home, 'registry', 'src'))
  const unpacked = join(cargo.home, 'registry', 'src', source, `Demo_x-${VERSION}`)
  assert.ok(filesBelow(unpacked).includes('src/lib.rs'))
}

async function registryAt(t: TestContext) {
  const folder = folderOf(t)
  const dir = join(folder, 'registry')
  assert.equal((await plimsollHere(['init', '--dir', dir])).code, 0)
  return { folder, dir }
}

test('Cargo publishes to a daemon that names its own paths, and fetches from it', async t => {
  const { folder, dir } = await registryAt(t)
  const user = await plimsollHere(['user', 'add', 'alice', '--dir', dir])
  assert.equal(user.code, 0, user.stderr)
  const made = await plimsollHere(['token', 'create', '--user', 'alice', '--dir', dir])
  const token = made.stdout.trim()
  const url = `http://127.0.0.1:${await freePort()}`
  const env = { PLIMSOLL_REGISTRY_BASE_URL: url, PLIMSOLL_REGISTRY_DL: `${url}${TEMPLATE}` }
  await serveHere(new Cleanup(t), dir, env, new URL(url).host)
  const project = writeProject(join(folder, 'demo'), { name: 'Demo_x', version: VERSION })
  const publisher = cargoAt(folder, 'publisher', url, { ours: token })
  await publisher.ok(project.folder, 'publish', '--registry', 'ours', '--allow-dirty')
  await fetchIt(folder, url)
  const checked = await plimsollHere(['verify', '--dir', dir], env)
  assert.equal(checked.code, 0, checked.stdout + checked.stderr)
})

test('Cargo fetches from a file server what build --from lays out', async t => {
  const folder = folderOf(t)
  const [from, out] = [join(folder, 'from'), join(folder, 'out')]
  mkdirSync(from)
  mkdirSync(out)
  writeFileSync(join(from, 'x.crate'), buildCrate({ name: 'Demo_x', version: VERSION }))
  writeFileSync(join(from, 'y.crate'), buildCrate({ name: 'Demo_x', version: '0.9.0' }))
  const server = await serveFiles(out)
  t.after(() => server.close())
  const build = async (dl: string) => {
    const env = { PLIMSOLL_REGISTRY_BASE_URL: server.url, PLIMSOLL_REGISTRY_DL: dl }
    return plimsollHere(['build', '--from', from, '--out', out], env)
  }
  const built = await build(`${server.url}${TEMPLATE}`)
  assert.deepEqual([built.code, built.stderr], [0, ''])
  const packages = () => filesBelow(out).filter(path => /^files\/|\.crate$/.test(path))
  assert.equal(packages().length, 2)
  await fetchIt(folder, server.url)
  cpSync(join(from, 'x.crate'), join(from, 'y.crate'))
  await build(`${server.url}${TEMPLATE}`)
  assert.equal(packages().length, 1, 'what is no longer there is removed')
  const moved = await build('https://cdn.example/{crate}/{version}')
  assert.deepEqual(packages(), [`crates/Demo_x/Demo_x-${VERSION}.crate`])
  assert.match(
    moved.stderr,
    /^warning: Cargo downloads from .*: that host has to have the \.crate/m,
  )
})

test('serve, build --from and push refuse a template that nobody can answer', async t => {
  const { folder, dir } = await registryAt(t)
  const base = 'https://crates.example'
  const env = { PLIMSOLL_REGISTRY_BASE_URL: base, PLIMSOLL_REGISTRY_DL: `${base}/d/{crate}` }
  writeFileSync(join(folder, 'x.crate'), buildCrate({ name: 'demo', version: VERSION }))
  for (const words of [
    ['serve', '--dir', dir, '--listen', '127.0.0.1:0'],
    ['build', '--from', 'x.crate', '--out', 'out'],
    ['push', 'x.crate', '--to', 'out'],
  ]) {
    const { code, stderr } = await plimsollHere(words, env, { cwd: folder })
    assert.equal(code, 2, stderr)
    assert.match(
      stderr,
      /^error: `registry\.dl` \(.*\/d\/\{crate\}\) is below https:\/\/crates\.ex/m,
    )
  }
})
