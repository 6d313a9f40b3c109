// Mirrors scripts/chaos.mjs

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '../support/plimsoll.ts'

// An unknown program, so that nothing runs in any case.
const chaos = (...args: string[]) =>
  spawnSync(process.execPath, [join(root, 'scripts', 'chaos.mjs'), 'nope', ...args], {
    encoding: 'utf8',
  })

test('--help explains and runs nothing; an option that no program has is misuse', () => {
  const help = chaos('--help')
  assert.deepEqual([help.status, help.stderr], [0, ''])
  assert.match(help.stdout, /^npm run chaos .*\nNAME: .*kill, power/)
  const bad = chaos('--bad', '1')
  assert.equal(bad.status, 2)
  assert.match(bad.stderr, /^Unknown option '--bad'/)
  assert.match(chaos('--seed', '1').stderr, /^there is no nope/)
})
