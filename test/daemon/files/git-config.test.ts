// Mirrors daemon/files/git-http/: a daemon that has moved
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { Cleanup } from '../../support/cleanup.ts'
import { expectCode } from '../../support/command.ts'
import { plimsollHere, serveHere } from '../../support/program.ts'
import { folderOf } from '../../support/workplace.ts'

test('who clones the git index of a daemon that has just moved to another address is sent to the new one', async t => {
  const dir = join(folderOf(t), 'registry')
  expectCode('init', await plimsollHere(['init', '--dir', dir]), 0)
  const config = (): { api: string } => {
    const args = ['--git-dir', join(dir, 'public', 'index.git'), 'show', 'HEAD:config.json']
    return JSON.parse(execFileSync('git', args, { encoding: 'utf8' })) as { api: string }
  }
  assert.equal(config().api, 'http://127.0.0.1:8080')
  const daemon = await serveHere(new Cleanup(t), dir)
  assert.equal(config().api, daemon.url)
})
