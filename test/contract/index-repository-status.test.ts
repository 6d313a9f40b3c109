import assert from 'node:assert/strict'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { expectCode } from '../support/command.ts'

import { engines, nodegit } from '../support/index-repository.ts'
import { plimsoll } from '../support/plimsoll.ts'
import { folderOf } from '../support/workplace.ts'

/** What `plimsoll status` says of the git index under these settings. */
async function said(dir: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const { stdout } = expectCode(
    'plimsoll status',
    await plimsoll(dirname(dir), ['status', '--dir', dir], env),
    0,
  )
  return /^git index (.*)$/m.exec(stdout)?.[1]
}

test('`plimsoll status` says which engine writes the git index, chosen by the settings or by what is installed', async t => {
  const dir = join(folderOf(t), 'registry')
  expectCode('plimsoll init', await plimsoll(dirname(dir), ['init', '--dir', dir]), 0)
  expectCode('plimsoll build', await plimsoll(dirname(dir), ['build', '--dir', dir]), 0)
  for (const engine of engines)
    assert.equal(await said(dir, { PLIMSOLL_GIT_ENGINE: engine }), engine)
  assert.equal(await said(dir, {}), nodegit ? 'nodegit' : 'git')
})
