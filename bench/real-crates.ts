// Shows on crates of crates.io that the entry made from a `.crate` is the line that crates.io's own
// index has.   node dist/bench/real-crates.js [CACHE_DIR…] A CACHE_DIR is a `registry/cache/NAME`
// folder of a Cargo home; without one, a varied project is fetched first. The lines are those of
// Cargo's index cache next to it. Every difference is printed with its explanation; one without an
// explanation, or fewer than 300 crates, makes it exit 1.
import { createHash } from 'node:crypto'
import { createReadStream, readdirSync, readFileSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Dependency, Entry } from '../core/entry/entry.ts'
import { parseEntry } from '../core/entry/parse.ts'
import { renderEntry } from '../core/entry/render.ts'
import { Refusal } from '../core/error/error.ts'
import { parseManifest } from '../core/manifest/parse.ts'
import { isName, lowerPrefix } from '../core/name.ts'
import { makeRelease } from '../core/release/release.ts'
import { CRATES_IO } from '../core/urls/urls.ts'
import { readArchive } from '../test/support/read-archive.ts'
import { bare, type Difference, explain, explainRefusal } from './real-crates/explain.ts'
import { fetchProject } from './real-crates/project.ts'

const LIMITS = {
  unpackedBytes: 512 << 20,
  entries: 50_000,
  manifestBytes: 1 << 20,
  readmeBytes: 1 << 20,
}
const LEAST = 300

const given = process.argv.slice(2)
const { folders, remove: fetched } =
  given.length > 0 ? { folders: given, remove: [] } : fetchProject()
const tally = {
  crates: 0,
  equal: 0,
  explained: 0,
  refusedRightly: 0,
  unexplained: 0,
  features2: 0,
  links: 0,
  renamed: 0,
  targets: 0,
  rustVersion: 0,
}
const started = Date.now()
for (const folder of folders) {
  for (const name of readdirSync(folder).sort())
    if (name.endsWith('.crate')) await examine(join(folder, name))
}
for (const folder of fetched) rmSync(folder, { recursive: true })
console.log(tally, `in ${((Date.now() - started) / 1000).toFixed(1)} s`)
if (tally.unexplained > 0 || tally.crates < LEAST) process.exitCode = 1

async function examine(file: string): Promise<void> {
  tally.crates++
  const crate = basename(file, '.crate')
  const line = publishedLine(file, crate)
  const published = parseEntry(line)
  count(published)
  let ours: Entry
  try {
    ours = await deriveEntry(file)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const why = explainRefusal(
      error.issues.map(one => one.code),
      published.pubtime,
    )
    tally[why ? 'refusedRightly' : 'unexplained']++
    console.log(`${crate}: refused (${why ?? 'NOT EXPLAINED'})\n    ${error.issues[0].message}`)
    return
  }
  const differences = compare(crate, ours, published, line)
  const reasons = differences.map(explain)
  for (const [at, one] of differences.entries()) {
    console.log(`${crate}: ${one.field} (${reasons[at] ?? 'NOT EXPLAINED'})`)
    console.log(`    ours   ${JSON.stringify(one.ours)}\n    theirs ${JSON.stringify(one.theirs)}`)
  }
  tally[differences.length === 0 ? 'equal' : reasons.includes(null) ? 'unexplained' : 'explained']++
}

async function deriveEntry(file: string): Promise<Entry> {
  const archive = await readArchive(() => createReadStream(file), LIMITS)
  const bytes = readFileSync(file)
  return makeRelease({
    archive,
    manifest: parseManifest(archive.manifest),
    readme: null,
    cksum: createHash('sha256').update(bytes).digest('hex'),
    size: bytes.length,
    pubtime: null,
    // Seen from crates.io, its own crates are its own.
    ownIndexUrls: new Set([CRATES_IO]),
  }).entry
}

/**
 * All fields but `yanked` and `pubtime`, which no crate holds; each dependency is a field of its
 * own.
 */
function compare(crate: string, entry: Entry, published: Entry, line: string): Difference[] {
  const ours = new Map(Object.entries(JSON.parse(renderEntry(entry))))
  const theirs = new Map<string, unknown>(Object.entries(JSON.parse(line)))
  for (const map of [ours, theirs]) {
    for (const key of ['yanked', 'pubtime', 'deps']) map.delete(key)
    for (const key of ['features', 'features2'])
      if (map.has(key)) map.set(key, inOrder(map.get(key) as object))
  }
  for (const [map, deps] of [
    [ours, entry.deps],
    [theirs, published.deps],
  ] as const) {
    for (const one of deps) map.set(dependencyField(map, one), JSON.parse(JSON.stringify(one)))
  }
  return [...new Set([...ours.keys(), ...theirs.keys()])].flatMap(field => {
    const pair = { ours: ours.get(field) ?? null, theirs: theirs.get(field) ?? null }
    // The order of keys means nothing.
    const isEqual = isDeepStrictEqual(pair.ours, pair.theirs)
    return isEqual ? [] : [{ crate, field, published: published.pubtime, ...pair }]
  })
}

function dependencyField(taken: ReadonlyMap<string, unknown>, one: Dependency): string {
  let field = `dep ${one.kind} ${one.name} ${bare(one.target)}`
  while (taken.has(field)) field += '+'
  return field
}

function inOrder(features: object): [string, unknown][] {
  return Object.entries(features).sort(([a], [b]) => (a < b ? -1 : 1))
}

/**
 * The line of a version in Cargo's index cache: a header, then version and line by turns, each
 * ended by NUL.
 */
function publishedLine(file: string, crate: string): string {
  const split = crate.lastIndexOf('-', crate.indexOf('.'))
  const [name, version] = [crate.slice(0, split), crate.slice(split + 1)]
  if (!isName(name)) throw new Error(`${file} does not have the name of a crate file`)
  const cache = join(dirname(dirname(dirname(file))), 'index', basename(dirname(file)), '.cache')
  const path = join(cache, lowerPrefix(name), name.toLowerCase())
  const [, ...pairs] = readFileSync(path).subarray(5).toString().split('\0')
  const line = pairs[pairs.indexOf(version) + 1]
  if (!pairs.includes(version) || line === undefined)
    throw new Error(`${path} has no line for ${version}`)
  return line
}

function count(entry: Entry): void {
  const values = Object.values(entry.features).flat()
  if (values.some(one => one.startsWith('dep:') || one.includes('?/'))) tally.features2++
  if (entry.links !== null) tally.links++
  if (entry.deps.some(one => one.package !== null)) tally.renamed++
  if (entry.deps.some(one => one.target !== null)) tally.targets++
  if (entry.rust_version !== null) tally.rustVersion++
}
