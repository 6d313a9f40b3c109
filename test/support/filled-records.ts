import { canonicalName, type Name } from '../../core/name.ts'
import { type Version, versionIdentity } from '../../core/version.ts'
import { insert, type Queries } from '../../generator/database/statement.ts'
import { addEvent, makeChange } from '../../generator/records/change.ts'
import { type Follower, relist } from '../../generator/records/crate-change.ts'
import { readCrate } from '../../generator/records/crates.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import type { KnownCrate } from './known-crates.ts'
import { dependency } from './release.ts'
import type { SearchedCrate } from './whole-search.ts'

const TIME = '2026-11-20T12:00:00Z'
const BY_TEST = { at: TIME, actor: 'test', who: 'operator' } as const

/** Puts crates without bytes into the records, with the data of lists and with marks. */
export async function fillRecords(
  { database, followers }: Registry,
  entries: readonly SearchedCrate[],
): Promise<void> {
  await makeChange(database, BY_TEST, 'operator', async (tx, by) => {
    for (const entry of entries) {
      const name = entry.name as Name
      const version = entry.newest as Version
      const canonical = canonicalName(name)
      // A mark is removed with the change that was rendered: each change needs its own number.
      const generation = await addEvent(tx, by, { action: 'publish', crate: name, version })
      const row = { name, canonical, skeleton: canonical, created_at: TIME, generation }
      const id = await insert(tx, 'crates', row)
      await insert(tx, 'releases', {
        crate_id: id,
        version,
        identity: versionIdentity(version),
        cksum: '0'.repeat(64),
        size: 1,
        yanked: Number(entry.yanked),
        line: lineOf(entry),
        about: JSON.stringify(aboutOf(entry)),
        readme: null,
        published_at: TIME,
        published_by: null,
      })
      await relistCrate(tx, followers, id)
    }
  })
}

/** Updates the lists' data about a crate from its releases, and sets the marks. */
export async function relistCrate(
  tx: Queries,
  followers: readonly Follower[],
  id: number,
): Promise<void> {
  const crate = await readCrate(tx, id)
  if (!crate) throw new Error(`no crate ${id}`)
  await relist(tx, followers, crate)
}

function lineOf(entry: SearchedCrate & Partial<KnownCrate>): string {
  const { name, newest, yanked, rust, needs = [] } = entry
  return JSON.stringify({
    name,
    vers: newest,
    deps: needs.map(need => dependency(need, '^1')),
    cksum: '0'.repeat(64),
    features: {},
    yanked,
    ...(rust && { rust_version: rust }),
  })
}

function aboutOf({ about }: SearchedCrate): object {
  const links = { homepage: null, documentation: null, repository: null }
  const rest = {
    license: 'MIT',
    license_file: null,
    edition: '2021',
    readme_file: null,
    categories: [],
  }
  return { ...links, ...rest, ...about }
}
