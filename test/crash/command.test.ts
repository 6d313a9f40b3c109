import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseName } from '../../core/name.ts'
import { indexPath } from '../../core/paths/tree.ts'
import { parseVersion } from '../../core/version.ts'
import { LIST, run } from '../../generator/database/statement.ts'
import { build } from '../../generator/projections/index/build.ts'
import { findCrate } from '../../generator/records/crates.ts'
import { listMarks } from '../../generator/records/marks.ts'
import { setYanked } from '../../generator/records/release-changes.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import { Cleanup } from '../support/cleanup.ts'
import { buildCrate } from '../support/crate-builder.ts'
import {
  addAndShow,
  addCrate,
  folderOf,
  indexVersions,
  newRegistry,
  OPERATOR,
  publicText,
} from '../support/workplace.ts'
import { assertSound, FOR_CARGO } from './truth.ts'
import { STRIDE, Victim } from './victim.ts'

test('killed before steps all through `plimsoll add`, the next build repairs everything and the file can be added again', async t => {
  const cleanup = new Cleanup(t)
  const [registry, notes] = [await newRegistry(t), folderOf(t)]
  await build(registry, { all: true })
  const deaths: string[] = []
  // What follows the index, pages and git, is not the addition's own; a few deaths there are
  // enough.
  for (let at = 1, late = 0; late * STRIDE < 8; at += STRIDE) {
    await forgetPages(registry)
    assert.ok(at < 200, 'an addition takes fewer steps')
    const parts = { name: `crate-${at}`, version: '1.0.0' }
    const file = join(notes, `${at}.crate`)
    writeFileSync(file, buildCrate(parts))
    const command = new Victim(cleanup, notes, at, ['add', '--dir', registry.dir, file])
    command.arm()
    const ending = await command.ended
    command.disarm()
    if (await isThrough(registry, parts.name)) late++
    await build(registry)
    await assertSound(registry)
    if (ending === 0) {
      assert.deepEqual(indexVersions(registry, indexPath(parseName(parts.name))), ['1.0.0'])
      break
    }
    assert.equal(ending, 'SIGKILL')
    deaths.push(command.steps().at(-1) ?? '')
    await addAndShow(registry, parts)
    assert.deepEqual(indexVersions(registry, indexPath(parseName(parts.name))), ['1.0.0'])
    await assertSound(registry)
  }
  assert.ok(deaths.length * STRIDE > 20, deaths.join(', '))
})

test('killed before steps all through `plimsoll yank`, the flag is the old one or the new one everywhere', async t => {
  const cleanup = new Cleanup(t)
  const [registry, notes] = [await newRegistry(t), folderOf(t)]
  const [name, version] = [parseName('demo'), parseVersion('1.0.0')]
  await addCrate(registry, { name, version })
  await addCrate(registry, { name, version: '2.0.0' })
  await build(registry, { all: true })
  const deaths: string[] = []
  for (let at = 1; ; at += STRIDE) {
    await forgetPages(registry)
    assert.ok(at < 200, 'a yank takes fewer steps')
    const command = new Victim(cleanup, notes, at, ['yank', '--dir', registry.dir, 'demo@1.0.0'])
    command.arm()
    const ending = await command.ended
    command.disarm()
    await build(registry)
    await assertSound(registry)
    const { changed } = await setYanked(registry, name, version, true, OPERATOR)
    await build(registry)
    const yanked = /"vers":"1\.0\.0".*"yanked":(true|false)/.exec(
      publicText(registry, 'index/de/mo/demo'),
    )?.[1]
    assert.equal(yanked, 'true')
    if (ending === 0) {
      assert.equal(changed, false)
      break
    }
    assert.equal(ending, 'SIGKILL')
    deaths.push(command.steps().at(-1) ?? '')
    await setYanked(registry, name, version, false, OPERATOR)
    await build(registry)
  }
  assert.ok(deaths.length * STRIDE > 8, deaths.join(', '))
})

/** Leaves the pages of earlier rounds alone, which would take most of the time. */
async function forgetPages({ database }: Registry): Promise<void> {
  await run(database, `DELETE FROM marks WHERE kind NOT IN ${LIST}`, FOR_CARGO)
}

/** Whether an addition is in the catalog and in the index, with nothing left to render of it. */
async function isThrough(registry: Registry, name: string): Promise<boolean> {
  const crate = await findCrate(registry.database, parseName(name))
  return (
    crate !== null &&
    (await listMarks(registry.database, 'index')).every(mark => mark.subject !== crate.id)
  )
}
