import assert from 'node:assert/strict'
import { appendFileSync, existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { undoMove } from '../../generator/migrate/migrate.ts'
import { openRegistry, type Registry } from '../../generator/registry.ts'
import { TABLE_KEYS } from '../../generator/store/database/copy.ts'
import { readMove } from '../../generator/store/database/moves/move.ts'
import { all } from '../../generator/store/database/statement.ts'
import { Cleanup } from '../support/cleanup.ts'
import { expectCode } from '../support/command.ts'
import { filesBelow } from '../support/folder.ts'
import { postgresSuite } from '../support/postgres-suite.ts'
import { plimsollHere } from '../support/program.ts'
import { addAndShow, folderOf } from '../support/workplace.ts'
import { openPublishing } from './truth.ts'
import { Victim } from './victim.ts'

const { server, skip } = postgresSuite()

/** All records but the marks, of which a copy may have more. */
async function recordsOf({ database }: Registry): Promise<Record<string, unknown[]>> {
  const tables = Object.entries(TABLE_KEYS).filter(([table]) => table !== 'marks')
  const rows = tables.map(async ([table, keys]) => {
    const found = await all<object>(database, `SELECT * FROM ${table} ORDER BY ${keys}`)
    return [table, found.map(row => Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)))]
  })
  return Object.fromEntries(await Promise.all(rows))
}

/** A registry that moves again and again, killed at one step after the other. */
interface Mover {
  readonly registry: Registry
  /** The name of the database that it moves to, and how the registry is opened there. */
  readonly target: () => Promise<{
    readonly to: string
    readonly env: Record<string, string>
  }>
  /** Removes what a move has left at its target. */
  readonly clear: () => void
}

/** Steps by which it dies besides those at the end, by name, and so many others. */
const NAMED = ['insert moves', 'insert releases', 'update moves']
const OTHERS = 3
/** The last steps, among them those after the records were closed. */
const LAST = 5

async function dieEverywhere(
  t: TestContext,
  { registry, target, clear }: Mover,
): Promise<{ readonly deaths: readonly string[]; readonly late: number }> {
  const [cleanup, notes] = [new Cleanup(t), folderOf(t)]
  const { dir, database } = registry
  const deaths: string[] = []
  let late = 0
  /** Moves, dying at a step or not, completes the move and gives it up; returns its steps. */
  const move = async (at: number | string): Promise<number> => {
    const { to, env } = await target()
    const crates = folderOf(t)
    const args = ['migrate', '--dir', dir, '--to', to, '--crates', crates]
    const victim = new Victim(cleanup, notes, at, args)
    victim.arm()
    const ending = await victim.ended
    victim.disarm()
    if (ending !== 0) {
      assert.equal(ending, 'SIGKILL')
      deaths.push(victim.steps().at(-1) ?? '')
      // Until the end it is in use as before.
      if ((await readMove(database))?.ended_at) late++
      else await addAndShow(registry, { name: `later-${deaths.length}`, version: '1.0.0' })
      expectCode(`the run after death at ${at}`, await plimsollHere(args), 0)
    }
    await assert.rejects(addAndShow(registry, { name: 'late', version: '1.0.0' }), /has been moved/)
    const moved = await openRegistry(dir, { env: { ...env, PLIMSOLL_STORAGE_CRATES: crates } })
    assert.deepEqual(await recordsOf(moved), await recordsOf(registry))
    await addAndShow(moved, { name: 'new-there', version: '1.0.0' })
    const releases = await all(moved.database, 'SELECT 1 FROM releases')
    assert.equal(filesBelow(crates).filter(path => path.endsWith('.crate')).length, releases.length)
    await moved.close()
    await undoMove(registry)
    clear()
    return victim.steps().length
  }
  const steps = await move(0)
  for (const name of NAMED) await move(name)
  for (let at = 1; at < OTHERS; at++) await move(Math.floor((at * steps) / OTHERS))
  // What was added after a death takes steps of its own.
  const end = await move(0)
  for (let at = end - 1; at >= end - LAST; at--) await move(at)
  return { deaths, late }
}

test('killed at any step, a move to a server and back is completed by the next call', {
  skip,
}, async t => {
  const { registry } = await openPublishing(t)
  for (const version of ['1.0.0', '1.1.0']) await addAndShow(registry, { name: 'demo', version })
  await addAndShow(registry, { name: 'other', version: '1.0.0' })
  let databases = 0
  const target = async () => {
    const to = await server.create(`crash_${++databases}`)
    return { to, env: { PLIMSOLL_DATABASE_URL: to } }
  }
  const there = await dieEverywhere(t, { registry, target, clear: () => {} })
  const { dir } = registry
  const { to } = await target()
  expectCode('the move', await plimsollHere(['migrate', '--dir', dir, '--to', to]), 0)
  const away = folderOf(t)
  let count = 0
  const clear = () => {
    count++
    for (const name of ['plimsoll.db', 'plimsoll.db-wal'])
      if (existsSync(join(dir, name))) renameSync(join(dir, name), join(away, `${count}-${name}`))
  }
  clear()
  appendFileSync(join(dir, 'plimsoll.toml'), `\n[database]\nurl = "${to}"\n`)
  const onServer = await openRegistry(dir, { env: {} })
  t.after(() => onServer.close())
  const back = await dieEverywhere(t, {
    registry: onServer,
    target: async () => ({ to: 'file', env: { PLIMSOLL_DATABASE_URL: '' } }),
    clear,
  })
  for (const { deaths, late } of [there, back]) {
    t.diagnostic(`${deaths.length} deaths, ${late} after the end: ${deaths.join(', ')}`)
    for (const name of NAMED)
      assert.ok(
        deaths.some(step => step.endsWith(name)),
        name,
      )
    assert.ok(late > 0, 'a death after the records were closed')
  }
})
