// Mirrors generator/database/steps.ts: databases of the search before.
import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openDatabase } from '../../generator/database/database.ts'
import { PLIMSOLL_SCHEMA } from '../../generator/database/migrations.ts'
import { openPostgres } from '../../generator/database/postgres/open.ts'
import { column, type Queries, run } from '../../generator/database/statement.ts'
import { openRegistry } from '../../generator/open.ts'
import { buildPages } from '../../generator/pages/pages.ts'
import { searchCrates } from '../../generator/projections/search/search.ts'
import { serverSettings } from '../support/engine.ts'
import { postgresSuite } from '../support/postgres-suite.ts'
import { dependency } from '../support/release.ts'
import { searchFor } from '../support/render-search.ts'
import { newRegistry } from '../support/workplace.ts'

const { server, skip } = postgresSuite()

/** The program before this one. */
const OLDER = {
  version: '0.1.0',
  steps: Object.fromEntries(Object.entries(PLIMSOLL_SCHEMA.steps).filter(([name]) => name < '030')),
}

const TIME = '2026-11-20T12:00:00Z'

/** Some tables of the search before. */
const TABLES = [
  `CREATE TABLE terms (id INTEGER PRIMARY KEY, term TEXT NOT NULL UNIQUE, crates INTEGER NOT NULL)`,
  `CREATE TABLE postings (
    term_id INTEGER NOT NULL, rank INTEGER NOT NULL, crate_id INTEGER NOT NULL,
    PRIMARY KEY (term_id, rank, crate_id)) WITHOUT ROWID`,
  'CREATE TABLE crate_bytes (block INTEGER PRIMARY KEY, scores TEXT NOT NULL)',
  `CREATE TRIGGER terms_more AFTER INSERT ON terms
    BEGIN UPDATE counts SET n = n + 1 WHERE what = 'terms'; END`,
  "INSERT INTO counts (what, n) VALUES ('terms', 0)",
]

/** Fills a database as that program did: two crates, one of which requires the other. */
async function fill(db: Queries): Promise<void> {
  for (const text of TABLES) await run(db, text)
  await run(db, "INSERT INTO facts (key, value) VALUES ('listings', '9')")
  await run(db, `INSERT INTO facts (key, value) VALUES ('search_bits', '{"now":0,"next":null}')`)
  await run(db, 'INSERT INTO audit (at, action, actor) VALUES (?, ?, ?)', TIME, 'publish', 'test')
  for (const [at, name] of ['serde', 'serde_json'].entries()) {
    const id = at + 1
    const crate = `INSERT INTO crates (id, name, canonical, skeleton, created_at, generation)
      VALUES (?, ?, ?, ?, ?, 1)`
    await run(db, crate, id, name, name, name, TIME)
    const deps = at === 0 ? [] : [dependency('serde', '^1')]
    const line = { name, vers: '1.0.0', deps, cksum: '0'.repeat(64), features: {}, yanked: false }
    const about = {
      ...{ description: `About ${name}`, keywords: ['encoding'], categories: [], license: 'MIT' },
      ...{ homepage: null, documentation: null, repository: null, license_file: null },
      ...{ edition: '2021', readme_file: null },
    }
    const release = `INSERT INTO releases (id, crate_id, version, identity, cksum, size, yanked,
        line, about, published_at)
      VALUES (?, ?, '1.0.0', '1.0.0', ?, 1, 0, ?, ?, ?)`
    const texts = [JSON.stringify(line), JSON.stringify(about)]
    await run(db, release, id, id, '0'.repeat(64), ...texts, TIME)
    const listing = `INSERT INTO listings (crate_id, canonical, newest_id, latest_id, versions,
        yanked, updated_at, step, found_id)
      VALUES (?, ?, ?, ?, 1, 0, ?, 0, ?)`
    await run(db, listing, id, name, id, id, TIME, id)
    const term = 'INSERT INTO terms (id, term, crates) VALUES (?, ?, 1)'
    await run(db, term, id, name)
    await run(db, 'INSERT INTO postings (term_id, rank, crate_id) VALUES (?, 120, ?)', id, id)
  }
  await run(db, "INSERT INTO crate_bytes (block, scores) VALUES (0, '12')")
  for (const kind of ['terms', 'rank', 'entry', 'search', 'common', 'spread'])
    await run(db, 'INSERT INTO marks (kind, subject, generation) VALUES (?, 1, 1)', kind)
}

for (const engine of ['file', 'server'] as const) {
  test(`a registry with the search before is upgraded, in a ${engine}`, {
    skip: engine === 'server' && skip,
  }, async t => {
    const { dir } = await newRegistry(t)
    for (const end of ['', '-wal', '-shm']) rmSync(join(dir, `plimsoll.db${end}`), { force: true })
    const url = engine === 'server' ? await server.create('one_search') : ''
    const older =
      engine === 'server'
        ? await openPostgres(serverSettings(url), OLDER)
        : await openDatabase(join(dir, 'plimsoll.db'), OLDER)
    await fill(older)
    await older.close()
    const registry = await openRegistry(dir, { env: { PLIMSOLL_DATABASE_URL: url } })
    t.after(() => registry.close())
    const { database, tree } = registry
    const tables = await column<string>(database, 'SELECT name FROM sqlite_master')
    const kinds = await column<string>(database, 'SELECT DISTINCT kind FROM marks')
    const gone = ['terms', 'postings', 'crate_bytes', 'rank', 'entry', 'common', 'spread']
    const left = [...tables, ...kinds].filter(name => gone.includes(name))
    assert.deepEqual(left, [])
    const search = (query: string) =>
      searchCrates(registry, searchFor(query), { limit: 9, offset: 0 })
    await assert.rejects(search('serde'), /try again/)
    const { issues } = await buildPages(registry)
    assert.deepEqual(issues, [])
    const { ids, total } = await search('encoding')
    assert.deepEqual([ids, total], [[1, 2], 2])
    assert.ok(await tree.read('search/layout.json'))
    const listed = await column(database, 'SELECT crate_id FROM search_crates ORDER BY 1')
    assert.deepEqual(listed, [1, 2])
  })
}
