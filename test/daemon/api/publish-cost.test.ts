// Mirrors daemon/api/publish.ts: what a publish costs
import assert from 'node:assert/strict'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import Libsql from 'libsql'
import { buildMarks, pageMarks } from '../../../generator/pages/marked.ts'
import { IDLE_KINDS, PAGE_KINDS } from '../../../generator/projections/projections.ts'
import { TestRegistry } from '../../support/registry.ts'

/** Counts the statements that reach SQLite from now on, those of lock files included. */
function countStatements(t: TestContext): () => number {
  let n = 0
  const { prepare, exec } = Libsql.prototype
  t.mock.method(Libsql.prototype, 'prepare', function (this: Libsql.Database, sql: string) {
    const statement = prepare.call(this, sql)
    for (const name of ['all', 'run'] as const) {
      const work = statement[name] as (...parameters: unknown[]) => unknown
      statement[name] = ((...parameters: unknown[]) => {
        n++
        return work.apply(statement, parameters)
      }) as never
    }
    return statement
  })
  t.mock.method(Libsql.prototype, 'exec', function (this: Libsql.Database, sql: string) {
    n++
    return exec.call(this, sql)
  })
  return () => n
}

/** The files of a folder, each with what changes when it is written. */
function filesOf(folder: string): Set<string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const files = entries
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
  return new Set(files.map(path => `${path} ${statSync(path).ino}`))
}

const skip = process.env.PLIMSOLL_TEST_DATABASE ? 'statements of SQLite are counted' : false

test('a new crate takes few statements, and few files are written behind its publish', {
  skip,
}, async t => {
  const statements = countStatements(t)
  const test = await TestRegistry.open(t)
  const { registry, indexWorker } = test
  const { tree, clock } = registry
  const token = await test.user('alice')
  // Nobody else renders.
  await indexWorker.pages.start()
  await indexWorker.pages.close(600)
  const began = statements()
  await test.publish(token, { name: 'demo', version: '1.0.0' })
  const answered = { statements: statements() - began, files: filesOf(tree.root) }
  await indexWorker.settle()
  const kinds = PAGE_KINDS.filter(kind => !IDLE_KINDS.includes(kind))
  const due = () => pageMarks(registry, clock(), undefined, kinds)
  for (let marks = await due(); marks.length > 0; marks = await due())
    await buildMarks(registry, marks)
  assert.ok(answered.statements <= 28, `${answered.statements} statements until the answer`)
  const all = statements() - began
  // With the page of its owner.
  assert.ok(all <= 65, `${all} statements`)
  const written = [...filesOf(tree.root)].filter(file => !answered.files.has(file))
  assert.ok(written.length > 0 && written.length <= 12, written.join('\n'))
})
