import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { examples } from '../../sample-app/examples.ts'
import { incomplete } from '../../sample-app/valid/incomplete.ts'
import { readVectors, wireRequest } from './support/vectors.ts'

const folder = fileURLToPath(new URL('../../../sample-app/', import.meta.url))
const files = [...examples].map(
  ([name, { chapter }]) => [name, join(folder, 'examples', chapter.toLowerCase(), name)] as const,
)

/** An example's file and all files of ours behind it. */
function graph(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen
  seen.add(file)
  for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(/from '(\.[^']+)'/g))
    graph(join(dirname(file), path), seen)
  return seen
}

/** All lines of these files, comments and empty lines included. */
function linesOf(files: readonly string[]): number {
  return files.reduce((sum, file) => sum + readFileSync(file, 'utf8').split('\n').length - 1, 0)
}

test('all code is 1,900 lines at most without tests, and more than half of it examples', () => {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const code = names.filter(name => /^(?!node_modules).*(?<!\.test)\.[jt]s$/.test(name))
  const sources = code.filter(name => name !== join('pages', 'try.js'))
  const all = linesOf(sources.map(name => join(folder, name)))
  const examples = sources.filter(name => name.startsWith(`examples${sep}`))
  const share = linesOf(examples.map(name => join(folder, name))) / all
  assert.ok(all <= 1900, `${all} lines`)
  assert.ok(share >= 0.55, `${Math.round(share * 100)} % are examples`)
})

test('every example has a first line about it, a request, and a test of twenty lines', () => {
  assert.ok(examples.size >= 33)
  for (const [name, file] of files) {
    const { about, request } = examples.get(name) ?? {}
    assert.ok(about && request, name)
    assert.ok(readFileSync(`${file}.test.ts`, 'utf8').split('\n').length <= 21, name)
  }
})

test('no example imports anything of Node, or of what serves it', () => {
  for (const [name, file] of files) {
    const behind = [...graph(`${file}.ts`)]
    for (const file of behind) assert.doesNotMatch(readFileSync(file, 'utf8'), /'node:/, file)
    const inside = /^(?:examples|valid)\//
    assert.ok(
      behind.every(file => inside.test(file.slice(folder.length))),
      name,
    )
    const lines = linesOf(behind.filter(file => !file.startsWith(join(folder, 'examples'))))
    assert.ok(lines <= 150, `${name} has ${lines} lines of ours before it`)
  }
})

test('at least 25 examples read `c.req.valid`, and no check stands without `complete`', () => {
  const readers = [...examples.values()].filter(({ source }) => source.includes('c.req.valid('))
  assert.ok(readers.length >= 25, String(readers.length))
  for (const [name, { app }] of examples) assert.deepEqual(incomplete(app), [], name)
})

// The server's work around an example.
const AROUND = /405|\/(?:large-spooled|no-token)$/

test('an example alone answers vectors like one that is served', async () => {
  for (const vector of readVectors().filter(({ id }) => !AROUND.test(id))) {
    const { method = 'GET', path, headers, body } = wireRequest(vector)
    const init = {
      method,
      headers: new Headers(Object.entries(headers ?? {}) as [string, string][]),
    }
    const sent = body === undefined ? init : { ...init, body: Buffer.from(body) }
    const response = await examples.get(vector.example)?.app.request(path, sent)
    assert.equal(response?.status, vector.expect.status, vector.id)
  }
})
