import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { migrateCrates } from '../../../generator/migrate/crates.ts'
import { openRegistry } from '../../../generator/open.ts'
import { openCrates } from '../../../generator/places/storage.ts'
import type { Registry } from '../../../generator/registry/registry.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { expectCode } from '../../support/command.ts'
import { filesBelow } from '../../support/folder.ts'
import { plimsollHere } from '../../support/program.ts'
import { refusedWith } from '../../support/refusal.ts'
import { registryFolder } from '../../support/registry-folder.ts'
import { startS3 } from '../../support/s3/bucket.ts'
import { objectOf } from '../../support/s3/objects.ts'
import { addCrate, folderOf, newRegistry } from '../../support/workplace.ts'

test('crates go to a bucket, stopped anywhere, and back; all bytes are compared there', async t => {
  const cleanup = new Cleanup(t)
  const s3 = await startS3(cleanup)
  const registry = await newRegistry(t)
  for (const version of ['1.0.0', '1.1.0', '1.2.0'])
    await addCrate(registry, { name: 'a', version })
  const { dir, settings } = registry
  const open = (crates: string) =>
    openCrates(dir, { ...settings.storage, endpoint: s3.url, crates }, s3.env())
  const copy = async (from: Registry, to: string) => migrateCrates(from, await open(to))
  const bucket = 's3://test/crates'
  let left = 1
  s3.fault = ({ method }) => (method === 'PUT' && left-- <= 0 ? 403 : null)
  await assert.rejects(copy(registry, bucket), refusedWith('bucket_refuses'))
  s3.fault = () => null
  const stored = s3.keys()
  assert.equal(stored.length, 1)
  // Damaged there, with the same size.
  const [first = ''] = stored
  const bytes = Buffer.from(s3.objects.get(first)?.bytes ?? '')
  bytes[20] = (bytes[20] ?? 0) ^ 1
  s3.objects.set(first, objectOf(bytes, {}))
  assert.deepEqual(await copy(registry, bucket), { crateFiles: 3, copied: 3, last: 3 })
  assert.deepEqual(await copy(registry, bucket), { crateFiles: 3, copied: 0, last: 3 })
  const local = filesBelow(join(dir, 'crates')).filter(path => path.endsWith('.crate'))
  const expected = local.map(path => `crates/${path}`)
  assert.deepEqual(s3.keys(), expected)
  await assert.rejects(copy(registry, 'crates'), refusedWith('migrate_crates_same'))
  // The way back, from a registry whose crates are in the bucket.
  const moved = await openRegistry(dir, { env: s3.env() })
  cleanup.add(() => moved.close())
  const again = folderOf(t)
  assert.equal((await copy(moved, again)).copied, 3)
  for (const path of local)
    assert.deepEqual(readFileSync(join(again, path)), readFileSync(join(dir, 'crates', path)))
  s3.objects.delete(first)
  await assert.rejects(copy(moved, folderOf(t)), refusedWith('crate_lost'))
})

test('the command says what it compared, and what to do next', async t => {
  const registry = await newRegistry(t)
  await addCrate(registry, { name: 'a', version: '1.0.0' })
  const to = folderOf(t)
  const migrate = (...args: string[]) => plimsollHere(['migrate', '--dir', registry.dir, ...args])
  const done = await migrate('--crates', to)
  assert.equal(
    done.stdout,
    `1 .crate file in ${to} compared, 1 of them copied now; then set \`storage.crates\` in plimsoll.toml\n`,
  )
  const again = await migrate('--crates', to, '--json')
  assert.deepEqual(JSON.parse(again.stdout), { crate_files: 1, copied: 0 })
})

test('what was deleted after it had been copied is set aside in the copy', async t => {
  const registry = await newRegistry(t)
  for (const version of ['1.0.0', '1.1.0']) await addCrate(registry, { name: 'a', version })
  const to = folderOf(t)
  const command = async (...args: string[]) => {
    const ended = await plimsollHere([...args, '--dir', registry.dir])
    assert.deepEqual([ended.code, ended.stderr], [0, ''], args.join(' '))
  }
  const stored = (folder: string) => filesBelow(folder).filter(path => /^\w\/.*\.crate$/.test(path))
  await command('migrate', '--crates', to)
  assert.equal(stored(to).length, 2)
  await command('delete', 'a@1.0.0', '--yes')
  await command('migrate', '--crates', to)
  assert.deepEqual(stored(to), stored(registry.crates.place.name))
  assert.equal(stored(to).length, 1)
  assert.equal(filesBelow(join(to, 'aside')).length, 1)
})

test('a crate that was published while the bytes were in a bucket is shown when they are back', async t => {
  const s3 = await startS3(new Cleanup(t))
  const { dir, ok, put } = await registryFolder(t)
  const env = { PLIMSOLL_GIT_INDEX: 'off', ...s3.env() }
  const there = async (...args: string[]) =>
    expectCode(args.join(' '), await plimsollHere([...args, '--dir', dir], env), 0).stdout
  await ok('add', put('a.crate', { name: 'a', version: '1.0.0' }))
  await there('migrate', '--crates', 's3://test/crates', '--set', 'storage.crates=crates')
  await there('add', put('b.crate', { name: 'b', version: '1.0.0' }))
  assert.match(await there('verify'), /^everything agrees$/m)
  await there('migrate', '--crates', 'crates')
  await ok('build')
  assert.match(await ok('verify'), /^everything agrees$/m)
  const shown = filesBelow(join(dir, 'public')).filter(path => path.endsWith('.crate'))
  assert.deepEqual(shown, ['crates/a/a-1.0.0.crate', 'crates/b/b-1.0.0.crate'])
})
