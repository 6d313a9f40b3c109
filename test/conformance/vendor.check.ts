// `npm run try:upstream`: `plimsoll export` writes what `cargo vendor --versioned-dirs` writes, of
// real crates of crates.io, byte for byte and with its modes; Cargo takes both layouts alike.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'smol-toml'
import { sha256 } from '../../core/sha256.ts'
import { Cargo } from '../support/cargo.ts'
import { Cleanup } from '../support/cleanup.ts'
import { plimsollHere } from '../support/program.ts'
import { writeProject } from '../support/project.ts'
import { scratch } from '../support/scratch.ts'

/** Old and new ones: with files of git, executables, two files of one path, folders as members. */
const CRATES = `hex 0.4.3, nl80211rs 0.1.0, shm *, strtod *, libc 0.1.12, log 0.3.1, gcc 0.3.55,
rustc-serialize 0.3.24, winapi 0.2.8, bitflags 0.1.1, semver 0.2.3, toml 0.1.30, itoa 0.4.4,
unicode-width 0.1.5, encoding 0.2.33, serde 1.0.100, syn 1.0.5, cfg-if 0.1.9, fnv 1.0.6,
lazy_static 1.4.0, anyhow 1.0.26, textwrap 0.11.0, libz-sys 1.1.2, byteorder 1.3.2,
either 1.5.3, autocfg 0.1.7, docopt 0.6.78`

/** Every file below a folder, with its mode and its checksum; every folder with its mode. */
function listing(root: string): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .map(({ name, parentPath }) => {
      const path = join(parentPath, name)
      const { mode } = statSync(path)
      const sum = statSync(path).isFile() ? sha256(readFileSync(path)) : 'folder'
      return `${path.slice(root.length + 1)} ${(mode & 0o777).toString(8)} ${sum}`
    })
    .sort()
}

/** Cargo's configuration for a folder, whatever the source of it is called. */
function meaning(text: string, folder: string): unknown {
  const { source } = parse(text.replaceAll(/vendored-sources|exported/g, 'it')) as {
    source: { it: { directory: string } }
  }
  assert.equal(source.it.directory, folder)
  return { ...source, it: null }
}

test('what is exported is what `cargo vendor` writes', async t => {
  const folder = scratch(new Cleanup(t))
  const lines = CRATES.split(/,\s+/).map(spec => spec.replace(/^(\S+) (\d)?/, '$1 = "=$2'))
  const toml = lines.map(line => `${line.replace('"=*', '"*')}"\n`).join('')
  const { folder: app } = writeProject(join(folder, 'app'), {
    name: 'app',
    // Only locked and fetched: it is for no computer at all.
    toml: `[target.'cfg(any())'.dependencies]\n${toml}`,
  })
  const dir = join(folder, 'registry')
  const env = { PLIMSOLL_UPSTREAM_CRATES_IO_FALLBACK: 'serve', PLIMSOLL_GIT_INDEX: 'off' }
  const call = async (...args: string[]) => {
    const { code, stdout, stderr } = await plimsollHere(args, env)
    assert.equal(code, 0, stderr)
    return stdout
  }
  const more = { registries: {}, cratesIo: null, timeoutMs: 600_000 }
  const cargo = new Cargo(join(folder, 'home'), more)
  const vendored = join(app, 'vendored')
  const { stdout } = await cargo.ok(app, 'vendor', '--versioned-dirs', vendored)
  await call('init', '--dir', dir, '--base-url', 'http://127.0.0.1:1')
  const lock = ['--lock', join(app, 'Cargo.lock'), '--dir', dir]
  await call('upstream', 'fetch', ...lock)
  const exported = join(app, 'out')
  const config = await call('export', ...lock, '--as', 'vendor', exported)
  assert.deepEqual(listing(exported), listing(vendored))
  assert.deepEqual(meaning(config, exported), meaning(stdout, vendored))
  // Cargo itself unpacks the local registry, without any other.
  const local = await call('export', ...lock, '--as', 'local-registry', join(app, 'local'))
  const alone = new Cargo(join(folder, 'alone'), { ...more, config: local })
  const again = join(app, 'again')
  const flags = ['--versioned-dirs', '--respect-source-config', '--offline', '--locked']
  await alone.ok(app, 'vendor', ...flags, again)
  assert.deepEqual(listing(again), listing(vendored))
  const count = readdirSync(exported).length
  t.diagnostic(`${count} crates`)
  assert.ok(count >= 50)
})
