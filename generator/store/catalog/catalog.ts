import type { Issue } from '../../../core/error/error.ts'
import { type CanonicalName, canonicalName, type Name } from '../../../core/name.ts'
import type { Release } from '../../../core/release/release.ts'
import { type Version, versionIdentity } from '../../../core/version.ts'
import type { Database, MarkKind } from '../database/database.ts'
import { type Added, addRelease, objections, type Publication, setYanked } from './change.ts'
import { clearMarks, type FileMark, fileMarks, listMarks } from './marks.ts'
import {
  type Change,
  type CrateRecord,
  crateRecord,
  findCrate,
  type Mark,
  ownsCrate,
  type ReleaseRecord,
  releaseRecord,
  selectReleases,
} from './record.ts'
import { removeReleases } from './removal.ts'

/** Background work that failed: what it was, when, and why. */
export interface Failure {
  readonly what: string
  readonly at: string
  readonly why: string
}

/** How the keys of remembered failures begin. */
const FAILURE = 'failure:'

/** The records of all releases: the truth from which every file is derived. Each change is one transaction. */
export class Catalog {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** The crate that `name` means: by canonical form, so `foo-bar` finds `Foo_Bar`. */
  async find(name: Name): Promise<CrateRecord | null> {
    return findCrate(this.#database, canonicalName(name))
  }

  /** A crate by its id. */
  async crate(id: number): Promise<CrateRecord | null> {
    const row = await this.#database
      .selectFrom('crates')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst()
    return row ? crateRecord(row) : null
  }

  /** One release of a crate, by the version without its build metadata. */
  async release(crateId: number, version: Version): Promise<ReleaseRecord | null> {
    const row = await selectReleases(this.#database, crateId)
      .where('releases.identity', '=', versionIdentity(version))
      .executeTakeFirst()
    return row ? releaseRecord(row) : null
  }

  /** All releases of a crate in publish order. */
  async releases(crateId: number): Promise<ReleaseRecord[]> {
    const rows = await selectReleases(this.#database, crateId).orderBy('releases.id').execute()
    return rows.map(releaseRecord)
  }

  /** The index lines of a crate in publish order. */
  async lines(crateId: number): Promise<string[]> {
    const rows = await this.#database
      .selectFrom('releases')
      .select('line')
      .where('crate_id', '=', crateId)
      .orderBy('id')
      .execute()
    return rows.map(row => row.line)
  }

  /** README text of a release as packaged. */
  async readme(releaseId: number): Promise<string | null> {
    const row = await this.#database
      .selectFrom('releases')
      .select('readme')
      .where('id', '=', releaseId)
      .executeTakeFirst()
    return row?.readme ?? null
  }

  /** The crates that `names` mean, as they are spelled here. */
  async known(names: readonly Name[]): Promise<Map<CanonicalName, Name>> {
    const wanted = [...new Set(names.map(canonicalName))]
    const found = new Map<CanonicalName, Name>()
    for (let start = 0; start < wanted.length; start += 500) {
      const rows = await this.#database
        .selectFrom('crates')
        .select(['canonical', 'name'])
        .where('canonical', 'in', wanted.slice(start, start + 500))
        .execute()
      for (const row of rows) found.set(row.canonical as CanonicalName, row.name as Name)
    }
    return found
  }

  /** Existing crates that one of the policy's look-alike keys leads to; at most 10. */
  async lookAlikes(keys: readonly string[]): Promise<Name[]> {
    const rows = await this.#database
      .selectFrom('crates')
      .select('name')
      .where('skeleton', 'in', keys)
      .orderBy('id')
      .limit(10)
      .execute()
    return rows.map(row => row.name as Name)
  }

  /**
   * Adds a release: with it, in one transaction, the crate if it is new, its first owner, the audit event and the marks
   * of what is to be rendered. Says `present`, and changes nothing, when this very release is already there (a retry).
   * Refuses a taken version or name, and a publisher who is not an owner.
   */
  add(release: Release, change: Change): Promise<Added> {
    return addRelease(this.#database, release, change)
  }

  /** What stands in the way of a release; see `objections`. */
  objections(release: Publication, change: Change): Promise<Issue[]> {
    return objections(this.#database, release, change)
  }

  /** Yanks or unyanks a release; says whether that changed something. Refuses unknown ones and non-owners. */
  setYanked(
    name: Name,
    version: Version,
    yanked: boolean,
    change: Change,
  ): Promise<{ crateId: number; changed: boolean }> {
    return setYanked(this.#database, name, version, yanked, change)
  }

  /** Takes releases out of the catalog; see `removeReleases`. */
  remove(crate: CrateRecord, releases: readonly ReleaseRecord[], change: Change): Promise<void> {
    return removeReleases(this.#database, crate, releases, change)
  }

  /** Whether a user owns a crate. */
  async isOwner(crateId: number, userId: number): Promise<boolean> {
    return ownsCrate(this.#database, crateId, userId)
  }

  /** Pending work of one kind, oldest first: a page of what was marked after a generation. */
  marks(kind: MarkKind, after = 0, limit = 1000): Promise<Mark[]> {
    return listMarks(this.#database, kind, after, limit)
  }

  /** The releases of one crate whose `.crate` is not yet shown. */
  fileMarks(crateId: number): Promise<FileMark[]> {
    return fileMarks(this.#database, crateId)
  }

  /** Whether a crate has changes that are not rendered yet. */
  async isMarked(crateId: number, kind: MarkKind = 'index'): Promise<boolean> {
    const row = await this.#database
      .selectFrom('marks')
      .select('generation')
      .where('kind', '=', kind)
      .where('subject', '=', crateId)
      .executeTakeFirst()
    return row !== undefined
  }

  /** Takes marks off, unless the subject has changed again since they were read. */
  clear(marks: readonly Mark[]): Promise<void> {
    return clearMarks(this.#database, marks)
  }

  /** Whether any release has these bytes. */
  async hasBytes(cksum: string): Promise<boolean> {
    const row = await this.#database
      .selectFrom('releases')
      .select('id')
      .where('cksum', '=', cksum)
      .executeTakeFirst()
    return row !== undefined
  }

  /** How many marks there are; they are few, whatever the size of the registry. */
  async pending(): Promise<number> {
    const row = await this.#database
      .selectFrom('marks')
      .select(eb => eb.fn.countAll<number>().as('n'))
      .executeTakeFirst()
    return row?.n ?? 0
  }

  /** Crates in the order of their ids, a page at a time: those after `after`. */
  async page(after: number, size: number): Promise<CrateRecord[]> {
    const rows = await this.#database
      .selectFrom('crates')
      .selectAll()
      .where('id', '>', after)
      .orderBy('id')
      .limit(size)
      .execute()
    return rows.map(crateRecord)
  }

  /** Every crate, read in pages, so that nothing grows with the registry. */
  async *crates(): AsyncIterable<CrateRecord> {
    let page = await this.page(0, 500)
    while (page.length > 0) {
      yield* page
      page = await this.page(page.at(-1)?.id ?? 0, 500)
    }
  }

  /** Counts for people. */
  async counts(): Promise<{ crates: number; releases: number; users: number; pending: number }> {
    const rows = await this.#database.selectFrom('counts').selectAll().execute()
    const count = (what: string) => rows.find(row => row.what === what)?.n ?? 0
    const users = await this.#database
      .selectFrom('users')
      .select(eb => eb.fn.countAll<number>().as('n'))
      .executeTakeFirst()
    return {
      crates: count('crates'),
      releases: count('releases'),
      users: users?.n ?? 0,
      pending: await this.pending(),
    }
  }

  /** Remembers that background work failed, for the operator to see; one failure for each kind of work. */
  noteFailure(failure: Failure): Promise<void> {
    return this.setFact(`${FAILURE}${failure.what}`, JSON.stringify(failure))
  }

  /** The last failure of each kind of background work. */
  async failures(): Promise<Failure[]> {
    const rows = await this.#database
      .selectFrom('facts')
      .select('value')
      .where('key', '>=', FAILURE)
      .where('key', '<', `${FAILURE}~`)
      .execute()
    return rows.map(row => JSON.parse(row.value) as Failure)
  }

  /** A remembered fact, such as what the public tree was last rendered with. */
  async fact(key: string): Promise<string | null> {
    const row = await this.#database
      .selectFrom('facts')
      .select('value')
      .where('key', '=', key)
      .executeTakeFirst()
    return row?.value ?? null
  }

  /** Remembers a fact; null forgets it. */
  async setFact(key: string, value: string | null): Promise<void> {
    if (value === null) await this.#database.deleteFrom('facts').where('key', '=', key).execute()
    else {
      await this.#database
        .insertInto('facts')
        .values({ key, value })
        .onConflict(conflict => conflict.column('key').doUpdateSet({ value }))
        .execute()
    }
  }
}
