import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { run } from '../../support/command.ts'
import { hostEnvironment, plimsoll, root } from '../../support/plimsoll.ts'
import { folderOf } from '../../support/workplace.ts'
import { writeCrate } from '../../support/write-crate.ts'

/** Root may raise a priority; without this capability it is like other users. */
const asOthers =
  process.platform === 'linux' && process.getuid?.() === 0
    ? ['setpriv', '--bounding-set', '-sys_nice']
    : []

test('a process with a lower priority than that of the sandbox adds crates', async t => {
  const folder = folderOf(t)
  assert.equal((await plimsoll(folder, ['init', '--dir', 'registry'])).code, 0)
  writeCrate(join(folder, 'demo.crate'), { name: 'demo', version: '1.0.0' })
  const add = [join(root, 'dist', 'program', 'cli.js'), 'add', 'demo.crate', '--dir', 'registry']
  const [command = '', ...args] = [...asOthers, 'nice', '-n', '15', process.execPath, ...add]
  const { code, stderr } = await run(command, args, { cwd: folder, env: hostEnvironment() })
  assert.equal(code, 0, stderr)
})
