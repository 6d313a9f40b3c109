// Mirrors generator/places/disk/caller.ts: commands of root, and of others, on a registry of a user
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Cleanup } from '../../support/cleanup.ts'
import { run as runCommand } from '../../support/command.ts'
import { none } from '../../support/none.ts'
import { hostEnvironment, root } from '../../support/plimsoll.ts'
import { SERVE, serveBy } from '../../support/serving-program.ts'
import { folderOf } from '../../support/workplace.ts'
import { writeCrate } from '../../support/write-crate.ts'

const UID = 10_001
const CLI = [process.execPath, join(root, 'dist', 'daemon', 'cli.js')]
const asUser = ['setpriv', `--reuid=${UID}`, `--regid=${UID}`, '--clear-groups']
const skip =
  process.platform !== 'linux' || process.getuid?.() !== 0 ? 'only root can be two users' : false

/** A registry of another user in a folder that everybody may enter, and files that only root may. */
function scene(t: TestContext) {
  const folder = folderOf(t)
  const at = (...names: string[]) => join(folder, ...names)
  chmodSync(folder, 0o755)
  for (const [name, mode] of [
    ['srv', 0o755],
    ['root', 0o700],
  ] as const)
    mkdirSync(at(name), { mode })
  chownSync(at('srv'), UID, UID)
  const dir = at('srv')
  const crate = (version: string) =>
    writeCrate(at('root', `demo-${version}.crate`), { name: 'demo', version })
  const run = async (who: readonly string[], args: readonly string[], code = 0) => {
    const env = { ...hostEnvironment(), PLIMSOLL_DIR: dir, HOME: '/root' }
    const [program = '', ...words] = [...who, ...CLI, ...args]
    const ended = await runCommand(program, words, { cwd: folder, env })
    assert.equal(ended.code, code, `${args.join(' ')}: ${ended.stderr}`)
    return ended.stderr
  }
  const ofOthers = () => {
    const names = readdirSync(dir, { recursive: true, encoding: 'utf8' })
    return names.filter(name => statSync(join(dir, name)).uid !== UID)
  }
  return { at, dir, crate, run, ofOthers }
}

test('what commands of root make in the registry of another user is that user’s', {
  skip,
}, async t => {
  const { at, dir, crate, run, ofOthers } = scene(t)
  await run([], ['init', '--base-url', 'https://crates.example'])
  await run([], ['add', crate('1.0.0')])
  for (const args of [
    ['user', 'add', 'ann', '--admin'],
    ['token', 'create', '--user', 'ann'],
    ['yank', 'demo@1.0.0'],
    ['build', '--all'],
    ['verify', '--repair'],
    ['backup', at('root', 'backups', 'one.tar')],
    ['import', '--as', 'crates', join(dir, 'crates')],
    ['status'],
  ])
    await run([], args)
  assert.deepEqual(ofOthers(), [])
  // The backup is root's, where only root may write.
  assert.equal(statSync(at('root', 'backups', 'one.tar')).uid, 0)
  // The user goes on, and root beside the daemon.
  const daemon = await serveBy(new Cleanup(t), [...asUser, ...SERVE], dir)
  await run([], ['add', crate('1.1.0')])
  await run(asUser, ['add', join(dir, 'crates')])
  daemon.kill('SIGTERM')
  assert.equal(await daemon.ended, 0)
  const mine = await serveBy(new Cleanup(t), SERVE, dir)
  mine.kill('SIGTERM')
  assert.equal(await mine.ended, 0)
  assert.deepEqual(ofOthers(), [])
  rmSync(at('srv'), { recursive: true })
  mkdirSync(at('srv'))
  chownSync(at('srv'), UID, UID)
  await run([], ['restore', at('root', 'backups', 'one.tar')])
  assert.deepEqual(ofOthers(), [])
  await run(asUser, ['verify'])
})

test('root’s own files are sources, and what root names is written as root’s', {
  skip,
}, async t => {
  const { at, dir, crate, run, ofOthers } = scene(t)
  await run([], ['init', '--base-url', 'https://crates.example'])
  for (const name of ['crates', 'pushed']) mkdirSync(at('root', name), { mode: 0o700 })
  for (let patch = 0; patch < 20; patch++) {
    const source = randomBytes(100_000).toString('base64')
    const version = `1.0.${patch}`
    const path = at('root', 'crates', `big-${version}.crate`)
    writeCrate(path, { name: 'big', version, files: { 'src/lib.rs': `// ${source}` } })
    chmodSync(path, 0o600)
  }
  await run([], ['import', '--as', 'crates', at('root', 'crates')])
  await run([], ['import', crate('1.0.0')])
  assert.deepEqual(ofOthers(), [])
  assert.equal(readdirSync(join(dir, 'crates'), { recursive: true }).length > 20, true)
  const cksum = createHash('sha256')
    .update(readFileSync(crate('1.0.0')))
    .digest('hex')
  const source = 'sparse+https://crates.example/index/'
  const locked = {
    name: '"demo"',
    version: '"1.0.0"',
    source: `"${source}"`,
    checksum: `"${cksum}"`,
  }
  const rows = Object.entries(locked).map(([key, value]) => `${key} = ${value}`)
  writeFileSync(at('root', 'Cargo.lock'), `version = 4\n\n[[package]]\n${rows.join('\n')}\n`)
  chmodSync(at('root', 'Cargo.lock'), 0o600)
  const lock = at('root', 'Cargo.lock')
  await run([], ['export', '--lock', lock, '--as', 'vendor', at('root', 'out')])
  assert.equal(statSync(at('root', 'out', 'demo-1.0.0', 'Cargo.toml')).uid, 0)
  mkdirSync(at('tree'))
  chownSync(at('tree'), UID, UID)
  const url = ['--base-url', 'https://tree.example']
  await run([], ['push', at('root', 'crates'), '--to', at('tree'), ...url])
  const names = readdirSync(at('tree'), { recursive: true, encoding: 'utf8' })
  assert.equal(names.filter(name => name.endsWith('.crate')).length, 20)
  none(names.filter(name => statSync(at('tree', name)).uid !== UID))
  assert.deepEqual(ofOthers(), [])
  await run(asUser, ['verify'])
})

test('another user than the owner is told how to run the command', { skip }, async t => {
  const { crate, run, ofOthers } = scene(t)
  await run(asUser, ['init', '--base-url', 'https://crates.example'])
  const other = ['setpriv', '--reuid=10002', '--regid=10002', '--clear-groups']
  for (const args of [['add', crate('1.0.0')], ['build'], ['serve'], ['user', 'add', 'ann']])
    assert.match(await run(other, args, 2), /belongs to the user 10001.*`sudo -u '#10001'`/)
  assert.deepEqual(ofOthers(), [])
})
