// Mirrors generator/cli/push.ts
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { plimsollHere } from '../../support/program.ts'
import { refuses } from '../../support/served-folder.ts'
import { folderOf } from '../../support/workplace.ts'
import { writeCrate } from '../../support/write-crate.ts'

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
  const missing = `it is not known at which address users reach ${tree}; name it with --base-url, or as \`registry.base_url\``
  await refuses({ run: args => push(...args) }, [[[first], 2, missing]])
  const base = 'https://crates.example/below'
  assert.equal((await push(first, '--base-url', base)).code, 0)
  const ended = await push(second)
  assert.deepEqual([ended.code, ended.stdout], [0, 'pushed second 1.0.0\n'], ended.stderr)
  assert.equal((await push(second)).stdout, 'second 1.0.0 is there already\n')
  const other = await push(second, '--base-url', 'https://other.example')
  assert.match(other.stderr, /push with the settings of that tree, such as its --base-url\n$/)
  // One that has its files elsewhere does not say where it is itself.
  const config = join(tree, 'index', 'config.json')
  writeFileSync(config, '{"dl":"https://cdn.example/{crate}-{version}"}')
  assert.match((await push(second)).stderr, /--base-url/)
})
