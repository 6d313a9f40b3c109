import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { databaseTime } from '../../generator/database/engine.ts'
import { openRegistry } from '../../generator/open.ts'
import {
  endPause,
  readDeparture,
  readPause,
  requireUnpaused,
} from '../../generator/records/pause.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import { Cleanup } from '../support/cleanup.ts'
import { expectCode } from '../support/command.ts'
import { sumsBelow } from '../support/folder.ts'
import { plimsoll } from '../support/plimsoll.ts'
import { postgresSuite } from '../support/postgres-suite.ts'
import { plimsollHere } from '../support/program.ts'
import { allRecords } from '../support/rows.ts'
import { addAndShow, folderOf } from '../support/workplace.ts'
import { openPublishing } from './truth.ts'
import { Victim } from './victim.ts'

const { server, skip } = postgresSuite()

/** All records but those about the database itself. */
const recordsOf = ({ database }: Registry) =>
  allRecords(database, table => (table === 'facts' ? 'false' : 'true'))

/** Where a registry is: its environment, and the arguments of a move there. */
interface Home {
  readonly env: Record<string, string>
  readonly to: string
}

/** Steps by which a move dies besides those at the end, by name, and so many others. */
const NAMED = ['insert releases', 'insert facts', 'delete facts']
const OTHERS = 2
/** The last steps, among them those after the records were closed. */
const LAST = 4

test('killed at any step, a move to a server and back leaves the old place in use', {
  skip,
}, async t => {
  const { registry: first } = await openPublishing(t)
  for (const version of ['1.0.0', '1.1.0']) await addAndShow(first, { name: 'demo', version })
  const { dir } = first
  expectCode('build', await plimsollHere(['build', '--dir', dir]), 0)
  const [cleanup, scratch] = [new Cleanup(t), folderOf(t)]
  const homeAt = (name: string, url: string): Home => ({
    env: {
      PLIMSOLL_DATABASE_URL: url,
      // Each place has its own one, which its daemon makes.
      PLIMSOLL_GIT_INDEX: 'off',
      PLIMSOLL_STORAGE_CRATES: join(dir, `${name}-crates`),
      PLIMSOLL_STORAGE_PUBLIC: join(dir, `${name}-www`),
    },
    to: url || 'file',
  })
  const [file, away] = [homeAt('file', ''), homeAt('away', await server.create('crash'))]
  let home: Home = { env: {}, to: 'file' }
  let next = away
  const deaths: string[] = []
  let [late, count] = [0, 0]
  /** Moves, dying at a step or not, and completes the move; returns its steps. */
  const move = async (at: number | string): Promise<number> => {
    const { PLIMSOLL_STORAGE_CRATES: crates = '', PLIMSOLL_STORAGE_PUBLIC: www = '' } = next.env
    const args = ['migrate', '--dir', dir, '--to', next.to, '--crates', crates, '--public', www]
    const victim = new Victim(cleanup, scratch, at, args, home.env)
    victim.arm()
    const ending = await victim.ended
    victim.disarm()
    const old = await openRegistry(dir, { env: home.env, forMove: true })
    const { database } = old
    if (ending !== 0) {
      assert.equal(ending, 'SIGKILL')
      deaths.push(victim.steps().at(-1) ?? '')
      if ((await readDeparture(database)) !== null) late++
      else {
        const pause = await readPause(database)
        assert.ok(!pause || pause.until - (await databaseTime(database)) <= 60_000)
        await endPause(database)
        await addAndShow(old, { name: `later-${++count}`, version: '1.0.0' })
        expectCode('build', await plimsollHere(['build', '--dir', dir], home.env), 0)
      }
      expectCode(`the run after death at ${at}`, await plimsoll(dir, args, home.env), 0)
    }
    await assert.rejects(requireUnpaused(old.database), /have moved/)
    const moved = await openRegistry(dir, { env: next.env })
    assert.deepEqual(await recordsOf(moved), await recordsOf(old))
    const files = [sumsBelow(crates), sumsBelow(www)]
    assert.deepEqual(files, [sumsBelow(old.crates.place.name), sumsBelow(old.tree.root)])
    await Promise.all([moved.close(), old.close()])
    expectCode('verify', await plimsollHere(['verify', '--dir', dir], next.env), 0)
    const before = home
    home = next
    next = before.to === 'file' ? file : away
    return victim.steps().length
  }
  const steps = [await move(0), await move(0)]
  for (const name of NAMED) for (const _ of steps) await move(name)
  for (let at = 1; at <= OTHERS; at++)
    for (const all of steps) await move(Math.floor((at * all) / (OTHERS + 1)))
  // What was added after a death takes steps of its own.
  const ends = [await move(0), await move(0)]
  for (let end = 1; end <= LAST; end++) for (const all of ends) await move(all - end)
  t.diagnostic(`${deaths.length} deaths, ${late} after the end: ${deaths.join(', ')}`)
  for (const name of NAMED)
    assert.equal(deaths.filter(step => step.endsWith(name)).length >= 2, true, name)
  assert.ok(late > 0, 'a death after the records were closed')
})
