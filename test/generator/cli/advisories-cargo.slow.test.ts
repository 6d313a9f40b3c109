import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { rustSecFile } from '../../support/advisories.ts'
import { Cargo } from '../../support/cargo.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { writeProject } from '../../support/project.ts'
import { publishTo } from '../../support/release.ts'
import { scratch } from '../../support/scratch.ts'
import { servedFolder } from '../../support/served-folder.ts'

test("Cargo's lock files of a private registry are checked with a token, by either index", async t => {
  const served = await servedFolder(t, { PLIMSOLL_AUTH_REQUIRED: 'true' })
  const { url } = served
  await served.ok('user', 'add', 'alice')
  const token = await served.ok('token', 'create', '--user', 'alice')
  const demo = { name: 'demo', version: '1.0.0', files: { 'src/lib.rs': '' } }
  assert.equal((await publishTo(url, token, demo)).status, 200)
  mkdirSync(join(served.dir, 'advisories'))
  const hole = { id: 'ACME-2026-0001', more: `source = "sparse+${url}/index/"`, patched: ['>= 2'] }
  writeFileSync(join(served.dir, 'advisories', 'a.md'), rustSecFile(hole))
  await served.ok('advisories', 'update')
  const folder = scratch(new Cleanup(t))
  const cargo = new Cargo(join(folder, 'home'), {
    registries: { own: `sparse+${url}/index/` },
    cratesIo: null,
    tokens: { own: token },
    config: '[registry]\nglobal-credential-providers = ["cargo:token"]',
  })
  const app = writeProject(join(folder, 'app'), {
    name: 'app',
    toml: '[dependencies]\ndemo = { version = "1", registry = "own" }',
  })
  await cargo.ok(app.folder, 'generate-lockfile')
  const lock = join(app.folder, 'Cargo.lock')
  const text = readFileSync(lock, 'utf8')
  assert.ok(text.includes(`"sparse+${url}/index/"`))
  // Cargo keeps no password in the URL of a git index: this is what it writes with its own login.
  for (const source of [`sparse+${url}/index/`, `registry+${url}/index.git`]) {
    writeFileSync(lock, text.replaceAll(`sparse+${url}/index/`, source))
    const args = ['advisories', 'check', lock, '--from', url]
    const refused = await served.run(args)
    assert.deepEqual([refused.code, refused.stdout], [1, ''])
    const { code, stdout, stderr } = await served.run([...args, '--token-stdin'], `${token}\n`)
    assert.deepEqual([code, stderr], [1, ''])
    assert.match(
      stdout,
      /^demo 1\.0\.0: ACME-2026-0001 \(no CVSS\) Demo has a hole\n {2}by app 1\.0\.0 > demo 1\.0\.0\n/,
    )
  }
})
