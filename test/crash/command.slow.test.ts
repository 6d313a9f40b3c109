import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseName } from '../../core/name.ts'
import { parseVersion } from '../../core/version.ts'
import { LIST, run } from '../../generator/database/statement.ts'
import { build } from '../../generator/pages/build.ts'
import { setYanked } from '../../generator/records/releases-changes.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import { Cleanup } from '../support/cleanup.ts'
import { addCrate, folderOf, newRegistry, OPERATOR, publicText } from '../support/workplace.ts'
import { assertSound, FOR_CARGO } from './truth.ts'
import { STRIDE, Victim } from './victim.ts'

test('killed before steps all through `plimsoll yank`, the flag is the old one or the new one everywhere', async t => {
  const cleanup = new Cleanup(t)
  const [registry, scratch] = [await newRegistry(t), folderOf(t)]
  const [name, version] = [parseName('demo'), parseVersion('1.0.0')]
  await addCrate(registry, { name, version })
  await addCrate(registry, { name, version: '2.0.0' })
  await build(registry, { all: true })
  const deaths: string[] = []
  for (let at = 1; ; at += STRIDE) {
    await clearPageMarks(registry)
    assert.ok(at < 200, 'a yank takes fewer steps')
    const command = new Victim(cleanup, scratch, at, ['yank', '--dir', registry.dir, 'demo@1.0.0'])
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
async function clearPageMarks({ database }: Registry): Promise<void> {
  await run(database, `DELETE FROM marks WHERE kind NOT IN ${LIST}`, FOR_CARGO)
}
