/**
 * The least work of such a registry for a publish: the archive is inspected (by the registry's own
 * code, in the same thread), a SQLite transaction checks token, crate, owners and version, and the
 * index file is joined from the records that it reads. Requests share nothing, and nothing is
 * rendered. `node checked-publish.js FOLDER`.
 */
import { createHash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { canonicalName } from '../../../core/name.ts'
import { inspectCrate } from '../../../core/release/inspect.ts'
import { openSqlite } from '../../../generator/places/disk/sqlite-file.ts'
import { answerPublishes, storeCrate } from './publish-server.ts'

const [folder = ''] = process.argv.slice(2)
mkdirSync(join(folder, 'index'), { recursive: true })
const database = openSqlite(join(folder, 'checked.db'))
database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
  CREATE TABLE tokens (hash BLOB PRIMARY KEY, user INTEGER);
  CREATE TABLE crates (id INTEGER PRIMARY KEY, name TEXT UNIQUE);
  CREATE TABLE owners (crate INTEGER, user INTEGER, PRIMARY KEY (crate, user));
  CREATE TABLE versions (crate INTEGER, version TEXT, entry TEXT, PRIMARY KEY (crate, version))`)
const statement = {
  begin: database.prepare('BEGIN IMMEDIATE'),
  commit: database.prepare('COMMIT'),
  token: database.prepare('SELECT user FROM tokens WHERE hash = ?'),
  crate: database.prepare('SELECT id FROM crates WHERE name = ?'),
  owner: database.prepare('SELECT user FROM owners WHERE crate = ? AND user = ?'),
  version: database.prepare('SELECT version FROM versions WHERE crate = ? AND version = ?'),
  addCrate: database.prepare('INSERT INTO crates (name) VALUES (?)'),
  addOwner: database.prepare('INSERT INTO owners VALUES (?, ?)'),
  addVersion: database.prepare('INSERT INTO versions VALUES (?, ?, ?)'),
  entries: database.prepare('SELECT entry FROM versions WHERE crate = ?'),
}
const limits = {
  unpackedBytes: 512 * 1024 * 1024,
  entries: 10_000,
  manifestBytes: 1024 * 1024,
  readmeBytes: 1024 * 1024,
}
let files = 0

answerPublishes(async ({ name, vers, crate, authorization }) => {
  const cksum = createHash('sha256').update(crate).digest('hex')
  const { release, issues } = await inspectCrate(() => once(crate), {
    ...{ cksum, size: crate.byteLength, pubtime: null, ownIndexUrls: new Set(), limits },
  })
  if (!release || issues.some(issue => issue.severity === 'error')) throw new Error(issues.join())
  await storeCrate(folder, name, vers, crate)
  const lines = record(name, vers, JSON.stringify(release.entry), authorization)
  const index = join(folder, 'index', name)
  const next = `${index}.${files++}`
  await writeFile(next, lines)
  await rename(next, index)
})

/** Records a version; returns the lines of the crate's index file. */
function record(name: string, vers: string, entry: string, token: string): string {
  const key = canonicalName(name as Parameters<typeof canonicalName>[0])
  statement.begin.run()
  statement.token.get([createHash('sha256').update(token).digest()])
  let crate = (statement.crate.get(key) as { id: number } | undefined)?.id
  if (crate === undefined) {
    crate = Number(statement.addCrate.run(key).lastInsertRowid)
    statement.addOwner.run(crate, 1)
  }
  statement.owner.get(crate, 1)
  if (statement.version.get(crate, vers)) throw new Error(`${name} ${vers} is there`)
  statement.addVersion.run(crate, vers, entry)
  const entries = statement.entries.all(crate) as { entry: string }[]
  statement.commit.run()
  return entries.map(entry => `${entry.entry}\n`).join('')
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}
