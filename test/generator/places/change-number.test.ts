import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Refusal } from '../../../core/error/error.ts'
import { ChangeNumber } from '../../../generator/places/change-number.ts'
import { folderOf } from '../../support/workplace.ts'

/** The number of a reader and that of a writer elsewhere, as two processes have them. */
function pair(folder: string): [ChangeNumber, ChangeNumber] {
  const path = join(folder, 'locks', 'tree.changes')
  return [new ChangeNumber(path), new ChangeNumber(path)]
}

test('the number stays until somebody changes something: this process or another one', async t => {
  const [reader, other] = pair(folderOf(t))
  const seen = [reader.read()]
  assert.equal(reader.read(), seen[0])
  for (const instance of [other, reader, other, other, reader]) {
    await instance.renew()
    if (instance === other) await new Promise(setImmediate)
    const now = reader.read()
    assert.ok(!seen.includes(now), `${now} again`)
    assert.equal(reader.read(), now)
    seen.push(now)
  }
  for (const instance of [reader, other]) instance.close()
})

test('a process that reads the number does not write it: a slow disk would block it', async t => {
  const folder = folderOf(t)
  const [reader] = pair(folder)
  reader.read()
  await reader.renew()
  assert.equal(readFileSync(join(folder, 'locks', 'tree.changes')).byteLength, 0)
  reader.close()
})

test('a number that cannot be read equals none; one that cannot be written is an error', async t => {
  const folder = folderOf(t)
  writeFileSync(join(folder, 'locks'), 'in the way')
  const [reader, other] = pair(folder)
  assert.ok(Number.isNaN(reader.read()))
  await reader.renew()
  await assert.rejects(other.renew(), error => {
    assert.ok(!(error instanceof Refusal), 'the disk is neither full nor read-only')
    return true
  })
})
