import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Lock } from '../../generator/places/locks/lock.ts'
import { Cleanup } from '../support/cleanup.ts'
import { buildCrate } from '../support/crate-builder.ts'
import { plimsollHere } from '../support/program.ts'
import { folderOf } from '../support/workplace.ts'
import { Victim } from './victim.ts'

/** A registry with a crate, whose records are in a file. */
async function registryOf(t: TestContext): Promise<string> {
  const dir = join(folderOf(t), 'registry')
  const crate = join(folderOf(t), 'demo.crate')
  writeFileSync(crate, buildCrate({ name: 'demo', version: '1.0.0' }))
  const base = '--base-url=https://crates.example'
  assert.equal((await plimsollHere(['init', '--dir', dir, base])).code, 0)
  assert.equal((await plimsollHere(['add', crate, '--dir', dir])).code, 0)
  return dir
}

/** Runs a command that dies before a step. */
async function killed(t: TestContext, step: string, ...args: string[]): Promise<void> {
  const victim = new Victim(new Cleanup(t), folderOf(t), step, args)
  victim.arm()
  assert.equal(await victim.ended, 'SIGKILL', `${step}: ${victim.steps().at(-1)}`)
}

const leftIn = (folder: string) => readdirSync(folder).filter(name => name.startsWith('.'))
const modeOf = (...names: string[]) => statSync(join(...names)).mode & 0o777

test('what a killed backup has left is for its owner alone, and the next one removes it', async t => {
  const [dir, backups] = [await registryOf(t), folderOf(t)]
  const file = join(backups, 'one.tar')
  await killed(t, 'rename one.tar', 'backup', file, '--dir', dir)
  const [workplace = ''] = leftIn(dir)
  assert.equal(modeOf(dir, workplace), 0o700)
  assert.equal(modeOf(dir, workplace, 'plimsoll.db'), 0o600)
  const [draft = ''] = leftIn(backups)
  assert.equal(modeOf(backups, draft), 0o600)
  // Of one that is still running, nothing is removed.
  const lock = new Lock(join(dir, 'locks', 'backup.lock'))
  assert.ok(lock.tryAcquire('process 1'))
  const beside = await plimsollHere(['backup', join(backups, 'two.tar'), '--dir', dir])
  assert.deepEqual(
    [beside.code, beside.stderr],
    [1, `error: another backup of ${dir} is being made (process 1); wait for its end\n`],
  )
  lock.release()
  assert.deepEqual([leftIn(dir), leftIn(backups)], [[workplace], [draft]])
  const other = join(folderOf(t), 'three.tar')
  assert.equal((await plimsollHere(['backup', other, '--dir', dir])).code, 0)
  assert.deepEqual([leftIn(dir), readdirSync(backups)], [[], []])
  assert.equal(modeOf(other), 0o600)
})

test('a restore that was killed is named, and the next one begins anew', async t => {
  const [dir, folder] = [await registryOf(t), folderOf(t)]
  const tar = join(folder, 'backup.tar')
  assert.equal((await plimsollHere(['backup', tar, '--dir', dir])).code, 0)
  for (const [at, step] of ['mkdir content', 'rename crates', 'rename plimsoll.toml'].entries()) {
    const restored = join(folder, String(at))
    // Mounted, or made before.
    if (at > 0) mkdirSync(restored)
    await killed(t, step, 'restore', tar, '--dir', restored)
    const { code, stderr } = await plimsollHere(['restore', tar, '--dir', restored])
    assert.deepEqual(
      [code, stderr],
      [
        0,
        `warning: a restore into ${restored} was killed before its end; what it had left there was removed first\n`,
      ],
    )
    assert.deepEqual(leftIn(restored), [])
    const verified = await plimsollHere(['verify', '--dir', restored])
    assert.deepEqual([verified.code, verified.stdout], [0, 'everything agrees\n'], verified.stderr)
  }
  // One that was killed after its end has made a registry, which stays.
  const whole = join(folder, 'whole')
  await killed(t, 'rm .writing-restore', 'restore', tar, '--dir', whole)
  const refused = await plimsollHere(['restore', tar, '--dir', whole])
  assert.match(refused.stderr, / is not empty, it contains crates;/)
  assert.deepEqual(leftIn(whole), [])
  assert.equal((await plimsollHere(['build', '--dir', whole])).code, 0)
  assert.equal((await plimsollHere(['verify', '--dir', whole])).stdout, 'everything agrees\n')
})
