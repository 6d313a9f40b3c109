// Mirrors generator/cli/push.ts: `push`, and what Cargo reads then
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { openStandIn } from '../../conformance/stage.ts'
import { Cargo } from '../../support/cargo.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { FileServer } from '../../support/file-server.ts'
import { plimsollHere } from '../../support/program.ts'
import { packagedFile, writeProject } from '../../support/project.ts'
import { startS3 } from '../../support/s3/bucket.ts'
import { folderOf } from '../../support/workplace.ts'
import { writeCrate } from '../../support/write-crate.ts'

for (const isBucket of [true, false])
  test(`Cargo builds with crates that were pushed to a ${isBucket ? 'bucket' : 'folder'}`, async t => {
    const cleanup = new Cleanup(t)
    const s3 = await startS3(cleanup)
    const folder = folderOf(t)
    const www = join(folder, 'www')
    mkdirSync(www)
    const { url } = await FileServer.start(cleanup, www)
    const env = { ...s3.env({}), PLIMSOLL_REGISTRY_BASE_URL: url }
    const push = async (...files: string[]) => {
      const ended = await plimsollHere(
        ['push', ...files, '--to', isBucket ? 's3://test/www' : www],
        env,
      )
      // What a web server before the bucket does.
      for (const [key, { bytes }] of s3.objects) {
        mkdirSync(dirname(join(folder, key)), { recursive: true })
        writeFileSync(join(folder, key), bytes)
      }
      return ended
    }
    const cratesIo = await openStandIn(cleanup, join(folder, 'crates-io'))
    const cargo = new Cargo(join(folder, 'home'), {
      registries: { test: `sparse+${url}/index/` },
      cratesIo: cratesIo.indexUrl,
    })
    const toml = '[dependencies]\nin-need = { version = "1", registry = "test" }\n'
    const library = writeProject(join(folder, 'library'), {
      name: 'in-need',
      files: { 'src/lib.rs': 'pub fn depth() -> u32 { 7 }\n' },
    })
    const user = writeProject(join(folder, 'user'), {
      name: 'user',
      toml,
      files: { 'src/lib.rs': 'pub fn twice() -> u32 { 2 * in_need::depth() }\n' },
    })
    for (const project of [library, user]) {
      await cargo.ok(project.folder, 'package', '--no-verify', '--allow-dirty')
      const ended = await push(packagedFile(project))
      assert.deepEqual(ended.stdout, `pushed ${project.name} 1.0.0\n`, ended.stderr)
    }
    assert.equal((await push(packagedFile(user))).stdout, 'user 1.0.0 is there already\n')
    const app = writeProject(join(folder, 'app'), {
      name: 'app',
      toml: '[dependencies]\nuser = { version = "1", registry = "test" }\n',
      files: { 'src/main.rs': 'fn main() { println!("{}", user::twice()) }\n' },
    })
    await cargo.ok(app.folder, 'fetch')
    const ran = await cargo.ok(app.folder, 'run', '--quiet')
    assert.equal(ran.stdout, '14\n')
  })

test('push needs a folder that was named, and good files', async t => {
  const folder = folderOf(t)
  const file = join(folder, 'a.crate')
  writeFileSync(file, '')
  const push = (...args: string[]) =>
    plimsollHere(['push', file, '--to', join(folder, 'www'), ...args])
  const address = ['--base-url', 'https://crates.example']
  const lost = await push(...address, '--dir', join(folder, 'nowhere'))
  assert.deepEqual([lost.code, /no file or folder .*nowhere/.test(lost.stderr)], [2, true])
  const bad = await push(...address)
  assert.deepEqual([bad.code, /^error: .*a\.crate: /m.test(bad.stderr)], [1, true])
})

test('push takes the address from the tree that it adds to', async t => {
  const folder = folderOf(t)
  const put = (name: string) =>
    writeCrate(join(folder, `${name}.crate`), { name, version: '1.0.0' })
  const [first, second] = [put('first'), put('second')]
  const tree = join(folder, 'www')
  const push = (...args: string[]) => plimsollHere(['push', ...args, '--to', tree])
  const missing = await push(first)
  assert.deepEqual(
    [missing.code, missing.stderr],
    [
      2,
      `error: it is not known at which address users reach ${tree}; name it with --base-url, or as \`registry.base_url\`\n`,
    ],
  )
  const base = 'https://crates.example/below'
  assert.equal((await push(first, '--base-url', base)).code, 0)
  const ended = await push(second)
  assert.deepEqual([ended.code, ended.stdout], [0, 'pushed second 1.0.0\n'], ended.stderr)
  const other = await push(second, '--base-url', 'https://other.example')
  assert.match(other.stderr, /push with the settings of that tree, such as its --base-url\n$/)
  // One that has its files elsewhere does not say where it is itself.
  const config = join(tree, 'index', 'config.json')
  writeFileSync(config, '{"dl":"https://cdn.example/{crate}-{version}"}')
  assert.match((await push(second)).stderr, /--base-url/)
})
