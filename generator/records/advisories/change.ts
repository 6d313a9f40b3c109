import { type Advisory, covers, isAbout, labelOf } from '../../../core/advisory/advisory.ts'
import { canonicalName } from '../../../core/name.ts'
import type { Version } from '../../../core/version.ts'
import { all, insertAll, LIST, type Queries, run, value } from '../../database/statement.ts'
import type { Tables } from '../../database/tables.ts'
import { addEvent, type Change, makeChange, type Permitted } from '../change.ts'
import { type Records, type Told, tellFollowers } from '../crate-change.ts'
import { CRATE, type CrateRecord } from '../crates.ts'
import { marksOf, SITE, setMarks } from '../marks.ts'
import { listVersions } from '../releases.ts'
import { ADVISORY, advisoriesIn, advisoriesOf, type Origin } from './read.ts'

/** The most advisories that one transaction changes: publishes get in between. */
const BATCH = 500

type Row = Tables['advisories']

/** An advisory, with all of its packages. An empty `content` is of one that is gone. */
export interface KeptAdvisory extends Omit<Row, 'id'> {}

/** How an advisory differs from the records; `before` is empty for a new one. */
export interface AdvisoryChange extends KeptAdvisory {
  readonly before: string
}

/**
 * Returns what differs from the records, where `wanted` are all advisories of their origins
 * `replaced`; one of `advisories/` comes before one with its id from elsewhere.
 */
export async function advisoryChanges(
  db: Queries,
  wanted: readonly KeptAdvisory[],
  replaced: readonly Row['origin'][],
): Promise<AdvisoryChange[]> {
  type Recorded = Omit<KeptAdvisory, 'content'>
  const recorded = await all<Recorded>(
    db,
    "SELECT name, origin, sum FROM advisories WHERE content <> ''",
  )
  const before = new Map(recorded.map(row => [row.name, row]))
  const after = new Map<string, KeptAdvisory>()
  if (!replaced.includes('own'))
    for (const row of recorded)
      if (row.origin === 'own') after.set(row.name, { ...row, content: '' })
  const kept = new Set(after.keys())
  for (const each of wanted) if (after.get(each.name)?.origin !== 'own') after.set(each.name, each)
  for (const row of recorded)
    if (replaced.includes(row.origin) && !after.has(row.name))
      after.set(row.name, { ...row, content: '', sum: '' })
  const changed = [...after.values()].filter(({ name, origin, sum }) => {
    const row = before.get(name)
    return !kept.has(name) && (row?.origin !== origin || row.sum !== sum)
  })
  const sql = `SELECT name, content FROM advisories WHERE name IN ${LIST}`
  const names = changed.map(({ name }) => name)
  const rows = await all<Pick<Row, 'name' | 'content'>>(db, sql, names)
  const contents = new Map(rows.map(({ name, content }) => [name, content]))
  return changed.map(each => ({ ...each, before: contents.get(each.name) ?? '' }))
}

/**
 * Keeps changed advisories, and tells the followers of each own crate (`own` are the index URLs of
 * this registry) which of its versions one has covered or covers now.
 */
export async function keepAdvisories(
  { database, followers }: Records,
  changes: readonly AdvisoryChange[],
  own: Origin,
  change: Change,
): Promise<void> {
  for (let at = 0; at < changes.length; at += BATCH) {
    const batch = changes.slice(at, at + BATCH)
    await makeChange(database, change, 'operator', async (tx, by) => {
      const detail = { advisories: batch.length, first: batch[0]?.name }
      const generation = await addEvent(tx, by, { action: 'advisories', detail })
      await setMarks(tx, marksOf(ADVISORY, [SITE, ...(await keepBatch(tx, batch))]), generation)
      await tellCrates(tx, { followers, own, by, generation }, batch)
    })
  }
}

async function keepBatch(tx: Queries, batch: readonly AdvisoryChange[]): Promise<number[]> {
  const last = (await value<number>(tx, 'SELECT max(id) FROM advisories')) ?? 0
  const rows = batch.map(({ before: _, ...row }, at) => ({ id: last + 1 + at, ...row }))
  const conflict = `ON CONFLICT (name) DO UPDATE SET origin = excluded.origin,
    content = excluded.content, sum = excluded.sum`
  await insertAll(tx, 'advisories', rows, conflict)
  const select = `SELECT id, name FROM advisories WHERE name IN ${LIST}`
  const names = batch.map(({ name }) => name)
  const stored = await all<Pick<Row, 'id' | 'name'>>(tx, select, names)
  const ids = new Map(stored.map(({ id, name }) => [name, id]))
  await run(tx, `DELETE FROM advisory_crates WHERE advisory_id IN ${LIST}`, [...ids.values()])
  const about = batch.flatMap(({ name, content }) => {
    const crates = new Set(advisoriesIn(content).map(hole => canonicalName(hole.package)))
    return Array.from(crates, crate => ({ crate, advisory_id: ids.get(name) ?? 0 }))
  })
  await insertAll(tx, 'advisory_crates', about)
  return [...ids.values()]
}

async function tellCrates(
  tx: Queries,
  to: Pick<Records, 'followers'> & { own: Origin; by: Permitted; generation: number },
  batch: readonly AdvisoryChange[],
): Promise<void> {
  const about = batch.flatMap(({ content, before }) => [
    ...advisoriesIn(before).map(hole => ({ ...hole, isNow: false })),
    ...advisoriesIn(content).map(hole => ({ ...hole, isNow: true })),
  ])
  const names = [...new Set(about.map(hole => canonicalName(hole.package)))]
  const { followers, own, by, generation } = to
  const sql = `SELECT ${CRATE} FROM crates WHERE canonical IN ${LIST} ORDER BY id`
  for (const crate of await all<CrateRecord>(tx, sql, names)) {
    const holes = about.filter(hole => isAbout(hole, crate.name, own))
    const versions = holes.length > 0 ? await listVersions(tx, crate.id) : []
    const altered = versions.filter(({ version }) => holes.some(hole => covers(hole, version)))
    if (altered.length === 0) continue
    // One that covers what it did not cover before; an advisory may have a crate several times.
    const isNew = ({ id }: Advisory, version: Version) =>
      !holes.some(hole => !hole.isNow && hole.id === id && covers(hole, version))
    const matched = holes.filter(
      hole => hole.isNow && altered.some(({ version: v }) => covers(hole, v) && isNew(hole, v)),
    )
    const told = new Map(matched.map(hole => [hole.id, eventOf(hole)])).values()
    const edit = { crate, altered, isWords: true, told: [...told], by, generation }
    await tellFollowers(tx, followers, edit)
  }
}

function eventOf(advisory: Advisory): Told {
  const { id, title, informational } = advisory
  const severity = labelOf(advisory)
  return { type: 'advisory.matched', advisory: id, title, severity, informational }
}

/** Returns what webhooks are told of a version that is recorded now and that advisories cover. */
export async function matchesOf(
  tx: Queries,
  { name, version }: { readonly name: string; readonly version: Version },
  own: Origin,
): Promise<Told[]> {
  const about = await advisoriesOf(tx, name, own)
  return about.filter(advisory => covers(advisory, version)).map(eventOf)
}

/** Deletes the advisories with these numbers that are gone, now that their files are. */
export async function deleteGoneAdvisories(tx: Queries, ids: readonly number[]): Promise<void> {
  await run(tx, `DELETE FROM advisories WHERE content = '' AND id IN ${LIST}`, ids)
}
