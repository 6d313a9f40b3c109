import type { About } from '../../../../core/manifest/manifest.ts'
import { rustMinor } from '../../../../core/search/request.ts'
import { scoreOf, stepOf } from '../../../../core/search/score.ts'
import { type Findable, findableBy } from '../../../../core/search/terms.ts'
import type { Database } from '../../database/connection.ts'
import {
  all,
  first,
  LIST,
  one,
  type Queries,
  type Row,
  run,
  value,
} from '../../database/statement.ts'
import { isStorageRefusal } from '../../storage-fault.ts'
import { clearMarks, MARK, type Mark, type MarkSubject, setMarks } from '../marks.ts'
import { keepCrateBytes, stateOf } from './crate-bytes.ts'
import { changeTerms } from './index-terms.ts'

/** The kinds of marks after which searches find a crate by other terms, or in another place. */
export type TermKind = 'terms' | 'rank'

/** The most crates of a transaction: nothing else is answered meanwhile, some 20 ms. */
const AT_ONCE = 16

const DUE = `SELECT ${MARK} FROM marks WHERE kind = ? AND retry_at IS NULL ORDER BY subject LIMIT ?`
const ONE = `SELECT ${MARK} FROM marks WHERE kind = ? AND subject = ?`

/** A crate as it is listed, and as searches find it. */
type Listed = Pick<
  Row<'listings'>,
  'canonical' | 'newest_id' | 'yanked' | 'dependents' | 'step' | 'found_id' | 'found_yanked'
>

const LISTED = `SELECT canonical, newest_id, yanked, dependents, step, found_id, found_yanked
  FROM listings WHERE crate_id = ?`

/** What a crate without terms is found by. */
const NOTHING: Findable = { ranks: new Map(), words: new Set() }

/**
 * Lets searches find up to 16 crates by their newest versions and the number of their dependents,
 * in one transaction: `subject` and others with a mark of its kind. If that fails, it does so for
 * `subject` only. Returns the marks of these crates, which are off then.
 */
export async function refreshTerms(
  database: Database,
  kind: TermKind,
  subject: number | null = null,
): Promise<readonly Mark[]> {
  const own = (tx: Queries) => all<Mark>(tx, ONE, kind, subject)
  try {
    return await refresh(database, async tx => {
      const due = await all<Mark>(tx, DUE, kind, AT_ONCE)
      const isDue = subject === null || due.some(mark => mark.subject === subject)
      return isDue ? due : [...due, ...(await own(tx))]
    })
  } catch (error) {
    if (subject === null || isStorageRefusal(error)) throw error
    return refresh(database, own)
  }
}

function refresh(
  database: Database,
  read: (tx: Queries) => Promise<readonly Mark[]>,
): Promise<readonly Mark[]> {
  return database.transaction(async tx => {
    const marks = await read(tx)
    const changed: MarkSubject[] = []
    for (const { subject } of marks) changed.push(...(await refreshCrate(tx, subject)))
    if (changed.length > 0) await setMarks(tx, changed, await generationOf(tx))
    await clearMarks(tx, marks)
    return marks
  })
}

/** What searches read, and whether that is of before a change. */
export interface SearchState {
  /** Grows whenever searches find a crate by other terms, or in another place. */
  readonly version: number
  /** Whether changes wait for `refreshTerms`: 1 or 0. */
  readonly pending: number
}

const STATE = `SELECT n AS version, (SELECT count(*) FROM (SELECT 1 FROM marks
    WHERE kind = 'terms' AND retry_at IS NULL LIMIT 1) AS due) AS pending
  FROM counts WHERE what = 'search'`

/** Returns the state of what searches read now. */
export function searchState(db: Queries): Promise<SearchState> {
  return one<SearchState>(db, STATE)
}

/**
 * Lets searches find a crate by its newest version and the number of its dependents. Returns the
 * marks of the files of the browser's search that change.
 */
export async function refreshCrate(tx: Queries, crateId: number): Promise<MarkSubject[]> {
  const listed = await first<Listed>(tx, LISTED, crateId)
  if (!listed) return []
  const { canonical, newest_id, yanked, found_id, found_yanked } = listed
  const step = stepOf(listed.dependents)
  if (found_id === newest_id && found_yanked === yanked && step === listed.step) return []
  const versions = await saidBy(tx, [newest_id, found_id])
  const old = findableOf(canonical, versions.get(found_id), found_yanked, listed.step)
  const newest = versions.get(newest_id)
  const now = findableOf(canonical, newest, yanked, step)
  const text = 'UPDATE listings SET step = ?, found_id = ?, found_yanked = ? WHERE crate_id = ?'
  await run(tx, text, step, newest_id, yanked, crateId)
  const rust = newest ? rustMinor(newest.rust) : null
  const score = scoreOf(step, canonical.length)
  await keepCrateBytes(tx, crateId, score, stateOf(yanked === 1, rust))
  return changeTerms(tx, crateId, old, now)
}

/**
 * Lets no search find a crate, before its listing or the release goes by which it is found. Returns
 * the marks of the files of the browser's search that change.
 */
export async function forgetCrate(tx: Queries, crateId: number): Promise<MarkSubject[]> {
  const listed = await first<Listed>(tx, LISTED, crateId)
  if (!listed || listed.found_id === null) return []
  const { canonical, found_id, found_yanked, step } = listed
  const old = findableOf(
    canonical,
    (await saidBy(tx, [found_id])).get(found_id),
    found_yanked,
    step,
  )
  await run(tx, 'UPDATE listings SET found_id = NULL WHERE crate_id = ?', crateId)
  await keepCrateBytes(tx, crateId, scoreOf(step, canonical.length), 0)
  return changeTerms(tx, crateId, old, NOTHING)
}

/** The stored metadata of a version. */
type Said = Pick<Row<'releases'>, 'id' | 'about'> & { rust: string | null }

async function saidBy(
  tx: Queries,
  ids: readonly (number | null)[],
): Promise<ReadonlyMap<number | null, Said>> {
  const text = `SELECT id, about, releases.line ->> 'rust_version' AS rust
    FROM releases WHERE id IN ${LIST}`
  return new Map(
    (
      await all<Said>(
        tx,
        text,
        ids.filter(id => id !== null),
      )
    ).map(one => [one.id, one]),
  )
}

function findableOf(
  canonical: Listed['canonical'],
  said: Said | undefined,
  yanked: number,
  step: number,
): Findable {
  if (!said) return NOTHING
  const { keywords, categories, description, license } = JSON.parse(said.about) as About
  const about = { keywords, categories, description, license }
  return findableBy({ canonical, ...about, yanked: yanked === 1, step })
}

async function generationOf(tx: Queries): Promise<number> {
  return (await value<number>(tx, 'SELECT max(id) FROM audit')) ?? 0
}
