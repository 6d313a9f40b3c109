import type { EventType } from '../../core/settings/webhook.ts'
import type { Database } from '../database/connection.ts'
import { listDaemons } from '../database/daemons.ts'
import { type BeforeUpgrade, PLIMSOLL_SCHEMA, requireNone } from '../database/migrations.ts'
import { type Queries, run } from '../database/statement.ts'
import { type CrateRecord, crateRecords, eachCrate } from './crates.ts'
import { changeListing, type ListingChange, readListing } from './listing.ts'
import { type Mark, type MarkKind, type MarkSubject, setMarks } from './marks.ts'
import { listVersions, type NewRelease, type VersionRecord } from './releases.ts'
import { deleteStored } from './releases-stored.ts'
import { readValue, writeValue } from './values.ts'

/** A change of one crate: the one event that everything derived from the records sees. */
export interface CrateChange extends ListingChange {
  readonly crate: CrateRecord
  readonly added: readonly NewRelease[]
  /** Versions that were yanked, or are no longer. */
  readonly altered: readonly Version[]
  readonly removed: readonly Version[]
  /** The user who became an owner of the crate, or no longer is one. */
  readonly owner: number | null
  /** Whether it is one of words alone, of which the index has none. */
  readonly isWords: boolean
  /** What webhooks tell of it. */
  readonly told: readonly Told[]
  /** The number of the event that records it. */
  readonly generation: number
  readonly actor: string
  readonly at: string
}

/** An event for webhooks; all but its type and version is left out in a private registry. */
export interface Told {
  readonly type: EventType
  readonly version?: string
  /** Of one of several events of a change; else that of the change. */
  readonly generation?: number
  readonly [more: string]: string | number | null | undefined
}

type Version = Pick<VersionRecord, 'id' | 'version'>

/** Returns whether a change is one of versions, and not only of owners. */
export function hasVersions(change: Pick<CrateChange, 'added' | 'altered' | 'removed'>): boolean {
  return change.added.length + change.altered.length + change.removed.length > 0
}

/** Returns whether lists may show something else of a crate. */
export function isRelisted({ before, after }: CrateChange): boolean {
  return before !== after
}

/** A follower of the changes of crates, such as a projection. */
export interface Follower extends MarkKind {
  /** The work that its marks stand for, in the words of a status. */
  readonly work: string
  /**
   * Updates its own rows in the transaction of a change, and returns the marks of what has to be
   * rendered again. Releases that were removed are gone by then.
   */
  changed?(tx: Queries, change: CrateChange): Promise<readonly MarkSubject[]>
  /** Follows marks that are done, in the transaction that clears them. */
  onSettled?(tx: Queries, done: readonly Mark[]): Promise<void>
  /** Empties its own rows, which `changed` fills again, crate by crate. */
  reset?(tx: Queries): Promise<unknown>
}

/** The records, and what follows their changes. */
export interface Records {
  readonly database: Database
  readonly followers: readonly Follower[]
}

/** The work of a transaction on a crate, of which followers are still to be told. */
export interface CrateEdit
  extends Pick<CrateChange, 'crate' | 'generation'>,
    Partial<Pick<CrateChange, 'added' | 'altered' | 'removed' | 'owner' | 'isWords' | 'told'>> {
  readonly isNew?: boolean
  readonly by: Pick<CrateChange, 'actor' | 'at'>
}

const NOTHING = { added: [], altered: [], removed: [], owner: null, isWords: false, told: [] }

/** Tells the followers of a transaction's work on a crate, and sets their marks. */
export async function tellFollowers(
  tx: Queries,
  followers: readonly Follower[],
  { crate, isNew = false, by: { actor, at }, generation, ...edit }: CrateEdit,
): Promise<void> {
  const change = { ...NOTHING, ...edit, crate, generation, actor, at }
  const { added, altered, removed } = change
  if (crate.generation !== generation)
    await run(tx, 'UPDATE crates SET generation = ? WHERE id = ?', generation, crate.id)
  if (!hasVersions(change)) {
    const state = await readListing(tx, crate.id)
    return announce(tx, followers, { ...change, before: state, after: state, uses: [] })
  }
  const gone = new Set(removed.map(version => version.id))
  const isPlain = gone.size + altered.length === 0 && added.every(version => !version.yanked)
  const all = isPlain ? [] : await listVersions(tx, crate.id)
  const versions = isPlain ? null : all.filter(version => !gone.has(version.id))
  const listing = await changeListing(tx, crate, { versions, added, isNew })
  // Their listing referred to them until now.
  await deleteStored(tx, [...gone])
  await announce(tx, followers, { ...change, ...listing })
}

async function announce(
  tx: Queries,
  followers: readonly Follower[],
  change: CrateChange,
): Promise<void> {
  const marks: MarkSubject[] = []
  for (const follower of followers) marks.push(...((await follower.changed?.(tx, change)) ?? []))
  await setMarks(tx, marks, change.generation)
}

/** Raise it when the same records get different listings: an upgrade then derives them again. */
const LISTINGS_FORMAT = '11'

/** Returns whether the listings have the format of another version. */
export async function hasOtherListings(db: Queries): Promise<boolean> {
  return ![null, LISTINGS_FORMAT].includes(await readValue(db, 'listings'))
}

/**
 * Derives all listings again, and the rows of the followers, if they are missing, or of another
 * format that no daemon keeps; `beforeUpgrade` may refuse that.
 */
export async function refreshListings(
  { database, followers }: Records,
  progress?: (step: string, done: number, total: number) => void,
  beforeUpgrade?: BeforeUpgrade,
): Promise<void> {
  const isCurrent = async (db: Queries) => (await readValue(db, 'listings')) === LISTINGS_FORMAT
  if (await isCurrent(database)) return
  await database.transaction(async tx => {
    if (await isCurrent(tx)) return
    const before = await readValue(tx, 'listings')
    if (before !== null) {
      await beforeUpgrade?.(tx, `lists of format ${before}`, `lists of format ${LISTINGS_FORMAT}`)
      requireNone(await listDaemons(tx), PLIMSOLL_SCHEMA, 'to derive lists and search again')
    }
    // The listings first, which each row of `dependents` counts.
    for (const table of ['listings', 'dependents'] as const) await run(tx, `DELETE FROM ${table}`)
    for (const follower of followers) await follower.reset?.(tx)
    const total = await crateRecords(tx)
    let done = 0
    for await (const crate of eachCrate(tx)) {
      progress?.('upgrading lists', done++, total)
      await relist(tx, followers, crate)
    }
    await writeValue(tx, 'listings', LISTINGS_FORMAT)
  })
}

/** Derives the listing of a crate from all its versions, and tells the followers. */
export async function relist(
  tx: Queries,
  followers: readonly Follower[],
  crate: CrateRecord,
): Promise<void> {
  const versions = await listVersions(tx, crate.id)
  const listing = await changeListing(tx, crate, { versions, added: [] })
  const { generation, createdAt: at } = crate
  await announce(tx, followers, { ...NOTHING, ...listing, crate, generation, actor: '', at })
}
