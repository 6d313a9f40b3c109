// Mirrors generator/store/catalog/search/
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { canonicalName, type Name } from '../../../../core/name.ts'
import { scoreOf } from '../../../../core/search/score.ts'
import { type Findable, findableBy, type Searched } from '../../../../core/search/terms.ts'
import {
  BITMAPS_FROM,
  BLOCK_CRATES,
  bytesOf,
  placesOf,
} from '../../../../generator/store/catalog/search/bitmaps.ts'
import { keepCrateBytes, stateOf } from '../../../../generator/store/catalog/search/crate-bytes.ts'
import { changeTerms } from '../../../../generator/store/catalog/search/index-terms.ts'
import { searchCrates, searchFor } from '../../../../generator/store/catalog/search/search.ts'
import type { Database } from '../../../../generator/store/database/connection.ts'
import {
  all,
  insert,
  type Queries,
  type Row,
  run,
} from '../../../../generator/store/database/statement.ts'
import { openCatalog } from '../../../support/engine.ts'
import { folderOf } from '../../../support/workplace.ts'

const CRATES = 2600
/** Ids lie apart, so that the crates fill three blocks. */
const SPREAD = 4

type Shelf = Map<number, Searched>

/** A random number that is the same in every run. */
function dice(seed: number): (sides: number) => number {
  let state = seed
  return sides => {
    state = (state * 1103515245 + 12345) % 2147483648
    return Math.floor((state / 2147483648) * sides)
  }
}

function invent(roll: (sides: number) => number, number: number): Searched {
  const pick = (...of: string[]) => of[roll(of.length)] ?? ''
  const name = [
    pick('rust', 'json', 'fast', 'x'),
    pick('rust', 'parser', 'tool', 'y'),
    `n${number}`,
  ]
  const description = ['rust', 'library', 'web', 'parser'].filter(() => roll(3) > 0).join(' ')
  return {
    canonical: name.join('_'),
    keywords: roll(2) === 0 ? [pick('rust', 'library', 'json')] : [],
    description,
    yanked: roll(9) === 0,
    step: Math.max(0, roll(9) - 6),
  }
}

async function put(tx: Queries, shelf: Shelf, id: number, now: Searched | null): Promise<void> {
  const nothing: Findable = { ranks: new Map(), words: new Set() }
  const terms = (one: Searched | null | undefined) => (one ? findableBy(one) : nothing)
  if (now)
    await keepCrateBytes(
      tx,
      id,
      scoreOf(now.step ?? 0, now.canonical.length),
      stateOf(now.yanked, null),
    )
  await changeTerms(tx, id, terms(shelf.get(id)), terms(now))
  // What the database does when the listing says that searches find something else.
  await run(tx, "UPDATE counts SET n = n + 1 WHERE what = 'search'")
  if (now) shelf.set(id, now)
  else shelf.delete(id)
}

async function scene(t: TestContext) {
  const database = await openCatalog(t, join(folderOf(t), 'plimsoll.db'))
  const shelf: Shelf = new Map()
  const roll = dice(11)
  await database.transaction(async tx => {
    for (let number = 1; number <= CRATES; number++) {
      const one = invent(roll, number)
      const { canonical } = one
      const row = { skeleton: canonical, created_at: '', generation: 1 }
      const name = canonical as Name
      const id = number * SPREAD
      await insert(tx, 'crates', { id, name, canonical: canonicalName(name), ...row })
      await put(tx, shelf, id, one)
    }
  })
  return { database, shelf, roll }
}

/** What the documented order says, by looking at every crate. */
function expected(shelf: Shelf, words: readonly string[]): number[] {
  const key = words.join('_')
  const found = [...shelf].flatMap(([id, one]) => {
    const { ranks: terms } = findableBy(one)
    const ranks = words.map(word => terms.get(word))
    if (ranks.some(rank => rank === undefined)) return []
    const isExact = one.canonical === key
    const rank = Math.max(...ranks.map(rank => rank ?? 0))
    return [{ id, order: [Number(one.yanked), Number(!isExact), rank, id] }]
  })
  const compare = (a: readonly number[], b: readonly number[]) => {
    const at = a.findIndex((value, i) => value !== b[i])
    return (a[at] ?? 0) - (b[at] ?? 0)
  }
  return found.sort((a, b) => compare(a.order, b.order)).map(one => one.id)
}

/** The bytes of a bitmap as they come out of the database. */
function stored(places: readonly number[]): ArrayBuffer {
  return new Uint8Array(bytesOf(places)).buffer
}

const QUERIES = [
  ['rust', 'library'],
  ['library', 'rust'],
  ['rust', 'parser'],
  ['r', 'p'],
  ['rust', 'parser', 'library', 'web'],
  ['json', 'rust'],
  ['fast', 'tool'],
  ['rust', 'n77'],
  ['x', 'y'],
]

async function compareAll(database: Database, shelf: Shelf): Promise<void> {
  for (const words of QUERIES) {
    const order = expected(shelf, words)
    for (const [limit, offset] of [
      [10, 0],
      [100, 0],
      [7, 93],
      [100, 400],
      [10, order.length - 3],
      [10, order.length],
    ] as const) {
      const { ids, total } = await searchCrates(database, searchFor(words.join('+')), {
        limit,
        offset: Math.max(offset, 0),
      })
      const what = `${words.join(' ')} at ${offset}`
      assert.equal(total, order.length, what)
      assert.deepEqual(ids, order.slice(Math.max(offset, 0), Math.max(offset, 0) + limit), what)
    }
  }
}

async function commonWords(database: Database): Promise<string[]> {
  const rows = await all<Pick<Row<'terms'>, 'term'>>(
    database,
    'SELECT term FROM terms WHERE common = 1 ORDER BY term',
  )
  return rows.map(row => row.term)
}

test('several common words find what looking at every crate finds, in the same order, through every change', async t => {
  const { database, shelf, roll } = await scene(t)
  const common = await commonWords(database)
  for (const word of ['rust', 'library', 'parser', 'web', 'r'])
    assert.ok(common.includes(word), word)
  assert.ok(!common.includes('x'), 'a word that is not common is in the comparison, too')
  await compareAll(database, shelf)
  const ids = [...shelf.keys()]
  await database.transaction(async tx => {
    for (let change = 0; change < 400; change++) {
      const id = ids[roll(ids.length)] ?? 0
      const one = shelf.get(id)
      const next = invent(roll, id)
      if (!one) await put(tx, shelf, id, { ...next, canonical: `rust_back_n${id}` })
      else if (roll(8) === 0) await put(tx, shelf, id, null)
      else await put(tx, shelf, id, { ...next, canonical: one.canonical })
    }
  })
  await compareAll(database, shelf)
  // Until no word is common any longer.
  await database.transaction(async tx => {
    for (const id of ids.slice(BITMAPS_FROM / 4)) if (shelf.has(id)) await put(tx, shelf, id, null)
  })
  assert.deepEqual(await commonWords(database), [])
  assert.deepEqual(await all<Row<'blocks'>>(database, 'SELECT * FROM blocks'), [])
  await compareAll(database, shelf)
})

test('a bitmap is stored as a list or as bits, whichever is shorter', () => {
  for (const places of [
    [0],
    [4095],
    [0, 31, 32, 63, 4095],
    Array.from({ length: 255 }, (_, i) => i * 16),
  ]) {
    const bytes = stored(places)
    assert.equal(bytes.byteLength, places.length * 2)
    assert.deepEqual(placesOf(bytes), places)
  }
  for (const step of [16, 3, 1]) {
    const places = Array.from({ length: BLOCK_CRATES / step }, (_, i) => i * step)
    assert.equal(stored(places).byteLength, 512)
    assert.deepEqual(placesOf(stored(places)), places)
  }
})
