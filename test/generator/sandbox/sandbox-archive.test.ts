import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AdoptParts } from '../../../core/release/adopt.ts'
import type { InspectParts } from '../../../core/release/inspect.ts'
import { adoptArchive, inspectArchive, sandbox } from '../../../generator/sandbox/sandbox.ts'
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
