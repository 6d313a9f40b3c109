import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AdoptParts } from '../../../core/release/adopt.ts'
import type { InspectParts } from '../../../core/release/inspect.ts'
import { systemRefusal } from '../../../generator/places/disk/fault.ts'
import {
  adoptArchive,
  faultOf,
  inspectArchive,
  listFiles,
  sandbox,
} from '../../../generator/sandbox/sandbox.ts'
import type { PublishedCrate } from '../../../generator/sandbox/tasks.ts'
import { SandboxError } from '../../../generator/sandbox/thread.ts'
import { refusedWith } from '../../support/refusal.ts'

test('an archive that takes too much is refused; a failure of ours is none of its faults', async t => {
  let error = new SandboxError('time', 'it takes more than 20 seconds of processor time')
  t.mock.method(sandbox, 'run', () => Promise.reject(error))
  const { release, issues } = await inspectArchive('x.crate', {} as InspectParts)
  assert.equal(release, null)
  assert.match(
    String(issues.map(issue => issue.message)),
    /^the crate file cannot be checked because it/,
  )
  await assert.rejects(adoptArchive('x.crate', {} as AdoptParts), refusedWith('archive_costly'))
  error = new SandboxError('failure', 'TypeError: no')
  await assert.rejects(inspectArchive('x.crate', {} as InspectParts), error)
  await assert.rejects(adoptArchive('x.crate', {} as AdoptParts), error)
})

test('a failed read is called what it is, and no archive without files or faults', {
  skip: process.platform !== 'linux' && 'it needs a file that cannot be read',
}, async t => {
  t.after(() => sandbox.close())
  const broken = { path: '/proc/self/mem', size: 100 }
  const identity = { name: 'demo', version: '1.0.0' } as PublishedCrate['identity']
  const reading: (() => Promise<unknown>)[] = [
    () => inspectArchive(broken.path, { limits: {} } as InspectParts),
    () => listFiles('y', async () => broken),
    () => faultOf({ ...broken, identity }),
  ]
  for (const read of reading) {
    await assert.rejects(read(), error => {
      const told = systemRefusal(error, 'client')?.message ?? String(error)
      assert.match(told, /^the disk reports an error: .*EIO: i\/o error; /)
      return true
    })
  }
})

test('the files of an inspected archive are listed without it, also of many, within memory', async t => {
  const release = (files: readonly object[]) => ({ release: { files }, issues: [] as object[] })
  const inspect = async (cksum: string, found: object) => {
    t.mock.method(sandbox, 'run', async () => found)
    await inspectArchive('x.crate', { cksum } as InspectParts)
  }
  const files = [{ path: 'Cargo.toml', size: 3 }]
  const gone = async () => null
  const many = Array.from({ length: 300 }, (_, at) => ({ path: `${at}`.padEnd(4000), size: 1 }))
  await inspect('whole', release(files))
  assert.deepEqual(await listFiles('whole', gone), files)
  await inspect('broken', { ...release(files), issues: [{ severity: 'error' }] })
  assert.equal(await listFiles('broken', gone), null)
  for (const at of [1, 2, 3, 4]) await inspect(`long ${at}`, release(many))
  const known = await Promise.all(['whole', 'long 1', 'long 4'].map(sum => listFiles(sum, gone)))
  assert.deepEqual(known, [null, null, many])
  const opened = async () => ({ path: 'x.crate', size: 1 })
  t.mock.method(sandbox, 'run', async () => files)
  assert.deepEqual(await listFiles('unknown', opened), files)
})
