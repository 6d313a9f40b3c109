// Mirrors generator/advisories/update.ts and generator/records/advisories/change.ts.
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readUpdate } from '../../generator/advisories/update.ts'
import { keepAdvisories } from '../../generator/records/advisories/change.ts'
import { verify } from '../../generator/verify/verify.ts'
import { rustSecFile } from '../support/advisories.ts'
import { Cleanup } from '../support/cleanup.ts'
import { render } from '../support/dependents.ts'
import { findingsOf } from '../support/findings.ts'
import { filesBelow } from '../support/folder.ts'
import { addCrate, folderOf, newRegistry, OPERATOR, publicText } from '../support/workplace.ts'
import { Victim } from './victim.ts'

/** More than one transaction changes. */
const MANY = 520

test('an update killed anywhere leaves each advisory old or new, and is completed by the next one', async t => {
  const cleanup = new Cleanup(t)
  const [registry, scratch] = [await newRegistry(t), folderOf(t)]
  await addCrate(registry, { name: 'demo', version: '1.0.0' })
  const write = (folder: string, title: string, first: number) => {
    const source = `source = "${[...registry.urls.own][0]}"`
    mkdirSync(join(scratch, folder))
    for (let at = first; at < first + MANY; at++) {
      const id = `MANY-2026-${10_000 + at}`
      const isOwn = at % 100 === 50
      const own = isOwn ? { more: source } : { name: `other-${at}` }
      writeFileSync(join(scratch, folder, `${id}.md`), rustSecFile({ id, title, ...own }))
    }
    return join(scratch, folder)
  }
  // The new state is without the first 10, and has 10 others.
  const [old, next] = [write('old', 'Before', 0), write('new', 'After', 10)]
  const take = async (state: string): Promise<number> => {
    const { changes, issues } = await readUpdate(registry, registry.dir, [state])
    assert.deepEqual(issues, [])
    await keepAdvisories(registry, changes, registry.urls.own, OPERATOR)
    await render(registry)
    return changes.length
  }
  const shown = () =>
    filesBelow(registry.tree.root)
      .filter(path => /^advisories\/MANY/.test(path))
      .map(path => `${path} ${JSON.parse(publicText(registry, path)).summary}`)
  const listed = (path: string, form: RegExp) => [...publicText(registry, path).matchAll(form)]
  await take(old)
  const before = new Set(shown())
  assert.equal(await take(next), MANY + 10)
  const after = new Set(shown())
  let mixed = 0
  for (let at = 1; ; at = Math.ceil(at * 1.7)) {
    await take(old)
    const args = ['advisories', 'update', '--dir', registry.dir, next]
    const command = new Victim(cleanup, scratch, at, args)
    command.arm()
    const ending = await command.ended
    command.disarm()
    for (const line of shown()) assert.ok(before.has(line) || after.has(line), line)
    await render(registry)
    assert.deepEqual(await findingsOf(verify(registry, { repair: false, served: false })), [])
    const now = shown()
    for (const line of now) assert.ok(before.has(line) || after.has(line), line)
    assert.equal(listed('advisories/index.json', /"id":"MANY/g).length, now.length)
    const of = (id: string) => now.filter(line => line.includes(id)).length
    for (const [, id = ''] of listed('crates/demo/crate.json', /"id": ?"(MANY-[\d-]+)"/g))
      assert.equal(of(id), 1)
    const rest = await take(next)
    assert.deepEqual(new Set(shown()), after)
    if (ending === 0) break
    assert.equal(ending, 'SIGKILL')
    if (rest > 0 && rest < MANY + 10) mixed++
  }
  assert.ok(mixed > 0, 'none was killed between two transactions')
})
