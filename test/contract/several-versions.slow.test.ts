// Mirrors generator/database/migrations.ts, generator/serving.ts and generator/pages/pages.ts:
// daemons of several versions on one database.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { PageWorker } from '../../daemon/workers/page-worker.ts'
import { copyCatalog } from '../../generator/database/copy.ts'
import { openDatabase } from '../../generator/database/database.ts'
import { column, type Queries } from '../../generator/database/statement.ts'
import type { Step } from '../../generator/database/step.ts'
import { openRegistry } from '../../generator/open.ts'
import { markOutdatedPages } from '../../generator/pages/claim.ts'
import { buildMarks, pageMarks, pageWork } from '../../generator/pages/marked.ts'
import { buildPages } from '../../generator/pages/pages.ts'
import { PLIMSOLL, type Program } from '../../generator/projections/context.ts'
import { readValue, writeValue } from '../../generator/records/values.ts'
import { initRegistry, type Registry } from '../../generator/registry/registry.ts'
import { beginServing } from '../../generator/serving.ts'
import { assetPath } from '../../site/layout/assets.ts'
import { Cleanup } from '../support/cleanup.ts'
import { Cluster, firstToken, publish, shownVersions, yank } from '../support/cluster.ts'
import { type Daemon, laterProgram, plimsoll, root } from '../support/plimsoll.ts'
import { postgresSuite } from '../support/postgres-suite.ts'
import { insertRows } from '../support/rows.ts'
import { until } from '../support/until.ts'
import { CONTRACTING, EXPANDING, NEWER, NEWEST } from '../support/versions.ts'
import { folderOf } from '../support/workplace.ts'

const { server, skip } = postgresSuite()

test('daemons are upgraded one by one: two versions serve beside each other, and the database is contracted when no older one does', {
  skip,
}, async t => {
  const cluster = await Cluster.make(t, server, 'rolling')
  const steps = async () =>
    (await cluster.query('SELECT name FROM kysely_migration ORDER BY name')).map(row => row.name)
  const old = await cluster.daemon()
  const token = firstToken(old)
  assert.equal((await publish(old, token, '0.1.0')).status, 200)
  await cluster.rendered()
  // Each change of the fact means that all pages are rendered again.
  await cluster.query(`CREATE TABLE claims (value text);
    CREATE FUNCTION claimed() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN INSERT INTO claims VALUES (NEW.value); RETURN NULL; END $$;
    CREATE TRIGGER claimed AFTER INSERT OR UPDATE ON facts
      FOR EACH ROW WHEN (NEW.key = 'pages' AND NEW.value ~ '^[0-9a-f]{64}$') EXECUTE FUNCTION claimed()`)

  const newer = await cluster.daemon({}, laterProgram('newer'))
  assert.equal((await steps()).at(-1), EXPANDING)
  // The older one has prepared its statements before there were new columns.
  for (const [at, [here, there]] of [
    [old, newer],
    [newer, old],
    [old, newer],
  ].entries() as IterableIterator<[number, [Daemon, Daemon]]>) {
    assert.equal((await publish(here, token, `1.${at}.0`)).status, 200, here.log())
    assert.equal((await yank(there, token, `1.${at}.0`)).status, 200, there.log())
    for (const daemon of [there, here])
      assert.equal((await shownVersions(daemon)).at(-1), `1.${at}.0 yanked`)
    const crate = await fetch(`${there.url}/crates/demo/demo-1.${at}.0.crate`)
    assert.equal(crate.status, 200)
    const answer = await fetch(`${here.url}/api/v1/crates?q=demo`)
    assert.equal(((await answer.json()) as { meta: { total: number } }).meta.total, 1)
  }
  await cluster.rendered()
  const third = await cluster.daemon()
  assert.equal((await publish(third, token, '2.0.0')).status, 200)
  await cluster.rendered()
  assert.equal((await cluster.query('SELECT * FROM claims')).length, 1, 'the newest one alone')
  // What the older one has recorded and not rendered, the newer one renders.
  await cluster.yankAndKill(old, token, '2.0.0')
  await until(
    async () => (await shownVersions(newer)).includes('2.0.0 yanked'),
    () => `the newer one does not render it\n${newer.log()}`,
  )

  // The killed one counts for 20 s, the other one as long as it serves.
  const refused = await cluster.refusal({}, laterProgram('newest'))
  assert.match(
    refused,
    new RegExp(
      `8\\.0\\.0 needs the step ${CONTRACTING} of its database, and then these daemons would not work`,
    ),
  )
  assert.match(refused, new RegExp(`process \\d+ at ${third.url}/?, version ${PLIMSOLL.version}`))
  assert.doesNotMatch(refused, /version 7\.0\.0/)
  assert.equal((await steps()).at(-1), EXPANDING)
  assert.equal((await publish(third, token, '2.1.0')).status, 200)
  third.stop()
  const dead = "SELECT 1 FROM facts WHERE key LIKE 'daemon:%'"
  await until(
    async () => (await cluster.query(dead)).length === 2,
    'the daemon that was stopped is still there',
  )
  await cluster.query(
    `DELETE FROM facts WHERE key LIKE 'daemon:%' AND value LIKE '%"${PLIMSOLL.version}"%'`,
  )
  const newest = await cluster.daemon({}, laterProgram('newest'))
  assert.equal((await steps()).at(-1), CONTRACTING)
  for (const [daemon, version] of [
    [newer, '3.0.0'],
    [newest, '3.1.0'],
  ] as const)
    assert.equal((await publish(daemon, token, version)).status, 200, daemon.log())
  assert.deepEqual(await shownVersions(newer), await shownVersions(newest))
  assert.match(
    await cluster.refusal({}),
    new RegExp(`newer version of Plimsoll than this one, which is .*${CONTRACTING}`),
  )
  await cluster.rendered()
  assert.equal((await cluster.query('SELECT * FROM claims')).length, 1, 'the same pages')
  const verify = ['verify', '--dir', newest.dir]
  const env = cluster.environment()
  const sound = await plimsoll(newest.dir, verify, env, '', laterProgram('newest'))
  assert.equal(sound.code, 0, sound.stdout)
})

/** The registry of a cluster as a program opens it, which serves until the test ends it. */
async function opened(t: TestContext, cluster: Cluster, program: Program, title: string) {
  const dir = folderOf(t)
  await initRegistry(dir, { env: {} }, {})
  const registry = await openRegistry(dir, { env: cluster.environment(), program })
  const closed = new Cleanup(t)
  closed.add(() => registry.close())
  // So that a page tells who has rendered it.
  return { ...registry, site: { ...registry.site, title } } satisfies Registry
}

test('the newest version renders the pages; an older one does so again when it has been alone for a minute', {
  skip,
}, async t => {
  const cluster = await Cluster.make(t, server, 'pages')
  const old = await opened(t, cluster, PLIMSOLL, 'Older')
  const newer = await opened(t, cluster, NEWER, 'Newer')
  const front = async () =>
    /<title>([^<]*)/.exec((await old.tree.read('index.html'))?.toString() ?? '')?.[1]
  const all = async (context: Registry) => {
    for (let marks = await pageMarks(old, old.clock()); marks.length > 0; ) {
      if ((await buildMarks(context, marks)) === null) return false
      marks = await pageMarks(old, old.clock())
    }
    return true
  }
  const mark = () => insertRows(old.database, 'marks', { kind: 'site', subject: 0, generation: 0 })
  const oldOne = await beginServing(old, 'http://old.example')
  assert.equal(await markOutdatedPages(old), true)
  assert.notEqual(await old.tree.read(assetPath('style.css')), null, 'before the first page')
  assert.equal(await all(old), true)
  assert.match((await front()) ?? '', /Older/)
  const newOne = await beginServing(newer, 'http://newer.example')
  await mark()
  assert.equal(await all(old), true, 'until the newer one has claimed them')
  assert.equal(await markOutdatedPages(newer), true)
  const marked = (await pageWork(old)).count
  assert.ok(marked > 0)
  assert.equal(await all(old), false)
  assert.equal(await markOutdatedPages(old), false)
  assert.deepEqual(await buildPages(old, { all: true }), { crates: 0, issues: [], areLeft: true })
  assert.equal((await pageWork(old)).count, marked)
  assert.equal(await all(newer), true)
  assert.match((await front()) ?? '', /Newer/)
  assert.equal(await markOutdatedPages(newer), true)
  assert.equal((await pageWork(old)).count, 0, 'once')

  let now = 0
  const worker = new PageWorker({
    context: old,
    onFailure: error => assert.fail(String(error)),
    waitForIdle: async () => undefined,
    now: () => now,
  })
  const look = async (at: number) => {
    now = at
    await worker.flush()
    return (await readValue(old.database, 'pages')) === claimed
  }
  const claimed = await readValue(old.database, 'pages')
  await mark()
  assert.equal(await look(0), true)
  assert.equal(await look(100_000), true, 'the newer one serves')
  await newOne?.end()
  assert.equal(await look(200_000), true)
  assert.equal(await look(259_000), true, 'it may come back')
  assert.match((await front()) ?? '', /Newer/)
  assert.equal(await look(260_000), false)
  await worker.flush()
  assert.match((await front()) ?? '', /Older/)
  await worker.close(0)
  await oldOne?.end()
})

test('an older daemon that was not heard of while the database was contracted ends', {
  skip,
}, async t => {
  const cluster = await Cluster.make(t, server, 'late')
  const old = await opened(t, cluster, PLIMSOLL, 'Older')
  const serving = await beginServing(old, 'http://old.example')
  await cluster.query("DELETE FROM facts WHERE key LIKE 'daemon:%'")
  await opened(t, cluster, NEWEST, 'Newest')
  await assert.rejects(async () => serving?.record(), /newer version of Plimsoll than this one/)
  await assert.rejects(beginServing(old, 'http://old.example'), /newer version of Plimsoll/)
  assert.deepEqual(await cluster.query("SELECT 1 FROM facts WHERE key LIKE 'daemon:%'"), [])
})

test('versions whose lists and search differ do not serve beside each other', { skip }, async t => {
  const cluster = await Cluster.make(t, server, 'listings')
  const old = await opened(t, cluster, PLIMSOLL, 'Older')
  const serving = await beginServing(old, 'http://old.example')
  await writeValue(old.database, 'listings', 'another format')
  await assert.rejects(
    opened(t, cluster, PLIMSOLL, 'Other'),
    /needs to derive lists and search again, and then these daemons would not work any more: .* at http:\/\/old\.example/,
  )
  assert.equal(await readValue(old.database, 'listings'), 'another format')
  await assert.rejects(async () => serving?.record(), /derived lists and search in a format/)
  await serving?.end()
  await opened(t, cluster, PLIMSOLL, 'Other')
  assert.notEqual(await readValue(old.database, 'listings'), 'another format')
})

test('a schema that was only expanded is opened by the version before, a contracted one is not', async t => {
  const path = join(folderOf(t), 'plimsoll.db')
  await (await openDatabase(path, NEWER)).close()
  const old = await openDatabase(path)
  assert.ok((await column(old, 'SELECT name FROM kysely_migration')).includes(EXPANDING))
  const copy = await openDatabase(join(folderOf(t), 'plimsoll.db'))
  await assert.rejects(copyCatalog(old, copy), /run that version, nothing was copied/)
  await copy.close()
  await old.close()
  await (await openDatabase(path, NEWEST)).close()
  await assert.rejects(openDatabase(path), /newer version of Plimsoll than this one/)
  await (await openDatabase(path, NEWER)).close()
})

/** The statements of a step on PostgreSQL. */
async function textsOf(step: Step): Promise<string[]> {
  const texts: string[] = []
  const database: Queries = {
    engine: 'PostgreSQL',
    async execute(sql) {
      texts.push(sql)
      return { rows: [], changes: 0 }
    },
  }
  await step.up(database)
  return texts
}

/** What takes something away from a version that does not know the step, or asks more of it. */
const CONTRACTS =
  /\bDROP\b|\bRENAME\b|\bTRUNCATE\b|\bALTER COLUMN\b|\bDELETE FROM\b|\bUPDATE (?!rate_limits)\w+ SET\b|ADD (?:COLUMN )?(?!.*\bDEFAULT\b).*\bNOT NULL\b|ADD CONSTRAINT|CREATE UNIQUE INDEX/i

test('a step that takes something away says which version it needs', async () => {
  const wrong: string[] = []
  for (const [name, step] of Object.entries(NEWEST.steps)) {
    if (name <= '026_found' || step.oldest !== undefined) continue
    // What a new trigger does comes on top of what older versions do.
    const texts = (await textsOf(step)).map(text =>
      text.replace(/^(CREATE TRIGGER.*)\n[\s\S]*/, '$1'),
    )
    assert.ok(texts.length > 0, name)
    wrong.push(...texts.filter(text => CONTRACTS.test(text)).map(text => `${name}: ${text}`))
  }
  assert.deepEqual(wrong, [])
  for (const text of await textsOf(NEWEST.steps[CONTRACTING] as Step)) assert.match(text, CONTRACTS)
  assert.doesNotMatch('ALTER TABLE a ADD COLUMN b INTEGER NOT NULL DEFAULT 0', CONTRACTS)
  assert.match('ALTER TABLE a ADD COLUMN b INTEGER NOT NULL', CONTRACTS)
})

test('statements name the columns that they read: a prepared one fails when there are more', () => {
  const wrong = ['generator', 'daemon'].flatMap(folder =>
    readdirSync(join(root, folder), { recursive: true })
      .map(name => join(folder, String(name)))
      // The copy of records is made by a command of the version that has all columns.
      .filter(path => path.endsWith('.ts') && path !== 'generator/database/copy.ts')
      .flatMap(path => {
        const text = readFileSync(join(root, path), 'utf8')
        const answer =
          /\b(?:SELECT|RETURNING) (?:\w+\.)?\*(?! INTO)|\.selectAll\(|\.returningAll\(/i.exec(text)
        return answer ? [`${path}: ${answer[0]}`] : []
      }),
  )
  assert.deepEqual(wrong, [])
})
