import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseName } from '../../../core/name.ts'
import { parseVersion } from '../../../core/version.ts'
import type { Database } from '../../../generator/database/connection.ts'
import { type Queries, run } from '../../../generator/database/statement.ts'
import { build } from '../../../generator/pages/build.ts'
import { buildPages } from '../../../generator/pages/pages.ts'
import { addDownloads } from '../../../generator/records/downloads/count.ts'
import { setYanked } from '../../../generator/records/releases-changes.ts'
import { readExisting, releaseOfBytes } from '../../../generator/records/releases-stored.ts'
import type { Registry } from '../../../generator/registry/registry.ts'
import { filesBelow } from '../../support/folder.ts'
import { addAndShow, newRegistry, OPERATOR } from '../../support/workplace.ts'

const HIDDEN = '9.9.9'
const CKSUM = 'e'.repeat(64)

/** The same database, in which the view leaves a version out, as it will those that are staged. */
function withoutHidden(database: Database): Database {
  const view = `(SELECT * FROM releases WHERE version <> '${HIDDEN}') AS `
  // A version that is taken is looked for in the table.
  const named = /\breleases AS (?!taken)/g
  const hiding = ({ engine, execute }: Queries): Queries => {
    return {
      engine,
      execute: (sql, parameters) => execute(sql.replaceAll(named, view), parameters),
    }
  }
  const bound = { engine: database.engine, execute: database.execute.bind(database) }
  return {
    ...hiding(bound),
    transaction: (work, when) =>
      database.transaction(
        tx => work(hiding({ engine: tx.engine, execute: tx.execute.bind(tx) })),
        when,
      ),
    close: () => database.close(),
  }
}

/** The files of the public tree that say something of the hidden version. */
const mentioning = ({ tree }: Registry) =>
  filesBelow(tree.root).filter(
    path => path.includes(HIDDEN) || readFileSync(join(tree.root, path)).includes(HIDDEN),
  )

test('a release that the view leaves out is nowhere in the tree, and its version is taken', async t => {
  const plain = await newRegistry(t)
  const registry = { ...plain, database: withoutHidden(plain.database) }
  const { database } = registry
  for (const version of ['1.0.0', '1.1.0']) await addAndShow(registry, { name: 'demo', version })
  const columns = 'crate_id, size, yanked, about, readme, published_at, contents'
  const sql = `INSERT INTO releases (version, identity, cksum, line, ${columns})
    SELECT ?, ?, ?, replace(line, '1.0.0', ?), ${columns} FROM releases WHERE version = '1.0.0'`
  await run(database, sql, HIDDEN, HIDDEN, CKSUM, HIDDEN)

  const [name, version] = [parseName('demo'), parseVersion(HIDDEN)]
  await setYanked(registry, name, parseVersion('1.1.0'), true, OPERATOR)
  await build(registry, { all: true })
  await buildPages(registry, { all: true })
  assert.deepEqual(mentioning(registry), [])
  const counts = [
    { release: { name, version }, day: 1, n: 1 },
    { release: { cksum: CKSUM }, day: 1, n: 1 },
  ]
  const unknown = await database.transaction(tx => addDownloads(tx, counts, new Date(OPERATOR.at)))
  assert.deepEqual(unknown, counts)
  assert.equal(await releaseOfBytes(database, CKSUM, 'visible'), null)

  assert.equal((await releaseOfBytes(database, CKSUM))?.version, HIDDEN)
  const { taken } = await readExisting(database, { name, version }, OPERATOR)
  assert.equal(taken?.version, HIDDEN)
  await setYanked(plain, name, parseVersion('1.1.0'), false, OPERATOR)
  await build(plain, { all: true })
  assert.ok(mentioning(plain).includes('index/de/mo/demo'), 'otherwise it is shown')
})
