import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { CRATES_IO } from '../../../../core/index-url.ts'
import { sha256 } from '../../../../core/sha256.ts'
import { buildCrate } from '../../../support/crate-builder.ts'
import { plimsollHere } from '../../../support/program.ts'
import { folderOf } from '../../../support/workplace.ts'

const BASE = 'https://crates.example'
const KEEL = buildCrate({ name: 'keel', version: '1.0.0' })
const SUM = sha256(KEEL)

function locked(name: string, source: string): string {
  return `[[package]]\nname = "${name}"\nversion = "1.0.0"\nsource = "${source}"\nchecksum = "${SUM}"\n`
}

test('export knows own crates by every address of the registry, and prints the tables', async t => {
  const folder = folderOf(t)
  const env = { PLIMSOLL_GIT_INDEX: 'off', PLIMSOLL_REGISTRY_ALIASES: `sparse+${BASE}/old/` }
  const plimsoll = (...args: string[]) => plimsollHere(args, env, { cwd: folder })
  const write = (name: string, text: string | Uint8Array) => writeFileSync(join(folder, name), text)
  write('keel-1.0.0.crate', KEEL)
  for (const args of [
    ['init', '--base-url', BASE],
    ['add', 'keel-1.0.0.crate'],
  ])
    assert.equal((await plimsoll(...args)).code, 0)
  write('a.lock', locked('keel', `sparse+${BASE}/index/`))
  write('b.lock', locked('keel', `registry+${BASE}/index.git`) + locked('rig', 'git+https://x'))
  write('c.lock', locked('keel', `sparse+${BASE}/old/`))
  const all = ['a.lock', 'b.lock', 'c.lock']
  const into = ['--as', 'local-registry', 'offline']
  assert.deepEqual(await plimsoll('export', '--lock', ...all, ...into), {
    code: 0,
    stdout: `# exported 1 crate to offline
# In place of the other [source] tables in .cargo/config.toml; [registries] stays.
[source.exported]
local-registry = "offline"

[source."sparse+${BASE}/index/"]
registry = "sparse+${BASE}/index/"
replace-with = "exported"

[source."${BASE}/index.git"]
registry = "${BASE}/index.git"
replace-with = "exported"

[source."sparse+${BASE}/old/"]
registry = "sparse+${BASE}/old/"
replace-with = "exported"
`,
    stderr: 'warning: `rig` comes from no registry, such as from git, and is not in the folder\n',
  })
  assert.deepEqual(readFileSync(join(folder, 'offline', 'keel-1.0.0.crate')), Buffer.from(KEEL))

  const json = await plimsoll('export', '--lock', 'a.lock', '--as', 'vendor', 'vendored', '--json')
  const { config, ...rest } = JSON.parse(json.stdout)
  assert.match(config, /^directory = "vendored"$/m)
  const crate = { name: 'keel', version: '1.0.0', checksum: SUM }
  const index = `sparse+${BASE}/index/`
  assert.deepEqual(rest, {
    folder: 'vendored',
    as: 'vendor',
    crates: [{ ...crate, source: index }],
    others: [],
  })
  const files = readdirSync(join(folder, 'vendored', 'keel-1.0.0')).sort()
  assert.deepEqual(files, ['.cargo-checksum.json', 'Cargo.toml', 'src'])
})

test('export says what it cannot read and what it does not have', async t => {
  const folder = folderOf(t)
  const plimsoll = (...args: string[]) =>
    plimsollHere(args, { PLIMSOLL_GIT_INDEX: 'off' }, { cwd: folder })
  assert.equal((await plimsoll('init', '--base-url', BASE)).code, 0)
  const says = async (lock: string, code: number, said: RegExp) => {
    const run = await plimsoll('export', '--lock', lock, '--as', 'vendor', 'offline')
    assert.deepEqual([run.code, run.stdout], [code, ''])
    assert.match(run.stderr, said)
    assert.equal(existsSync(join(folder, 'offline')), false)
  }
  await says('no.lock', 2, /^error: there is no file or folder no\.lock$/m)
  writeFileSync(join(folder, 'bad.lock'), 'version = 9')
  await says('bad.lock', 1, /^error: bad\.lock cannot be read as a Cargo\.lock: its version is 9/)
  const both = locked('keel', `sparse+${BASE}/index/`) + locked('serde', `registry+${CRATES_IO}`)
  writeFileSync(join(folder, 'Cargo.lock'), both)
  await says('Cargo.lock', 1, /:\n {2}keel 1\.0\.0 of sparse\S+\n {2}serde 1\.0\.0 of https\S+\n$/)
})
