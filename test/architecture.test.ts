import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

/** Root of the checkout: this file runs as dist/test/architecture.test.js. */
const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..')

const FOLDERS = ['site', 'generator', 'daemon', 'sample-app'] as const

/** Who may import whom; a value is a list of allowed targets, as path beginnings. */
const MAY: Record<string, (from: string) => string[]> = {
  site: () => ['site/'],
  generator: from => (noun(from) === 'render' ? ['generator/', 'site/'] : ['generator/']),
  // The table of commands beside the whole: it is what a command can be found in without loading the others.
  daemon: () => ['daemon/', 'generator/index.ts', 'generator/cli.ts', 'site/'],
  'sample-app': () => ['sample-app/'],
}

/** Layers of the generator, lowest first; a row sees the rows above it and itself. */
const LAYERS = [
  ['error', 'objections', 'name', 'version', 'requirement'],
  ['paths', 'urls', 'timestamp', 'settings', 'entry', 'manifest', 'tarball', 'release', 'policy'],
  ['render'],
  [
    'durable-file',
    'written-files',
    'journal',
    'database',
    'lock',
    'catalog',
    'crate-files',
    'crate-store',
    'public-tree',
  ],
  ['index-repository'],
  [
    'registry',
    'build',
    'pages',
    'add',
    'batch',
    'import',
    'verify',
    'static',
    'backup',
    'delete',
    'git-index',
  ],
  ['cli', 'index'],
]

const sources = FOLDERS.flatMap(folder => list(folder))
const imports = new Map(sources.map(file => [file, importsOf(file)]))

test('no folder imports what it may not', () => {
  const wrong: string[] = []
  for (const [file, targets] of imports) {
    const folder = file.slice(0, file.indexOf('/'))
    const allowed = MAY[folder]?.(file) ?? []
    for (const target of targets)
      if (!allowed.some(start => target.startsWith(start))) wrong.push(`${file} → ${target}`)
  }
  assert.deepEqual(wrong, [])
})

test('the generator imports downward by its layers', () => {
  const wrong: string[] = []
  for (const [file, targets] of imports) {
    if (!file.startsWith('generator/')) continue
    const inside = targets.filter(target => target.startsWith('generator/'))
    for (const target of inside) if (layer(target) > layer(file)) wrong.push(`${file} → ${target}`)
  }
  assert.deepEqual(wrong, [])
})

test('no import cycles, types included', () => {
  const cycles: string[] = []
  const done = new Set<string>()
  const visit = (file: string, trail: string[]): void => {
    if (trail.includes(file)) cycles.push([...trail.slice(trail.indexOf(file)), file].join(' → '))
    if (done.has(file) || trail.includes(file)) return
    for (const target of imports.get(file) ?? []) visit(target, [...trail, file])
    done.add(file)
  }
  for (const file of sources) visit(file, [])
  assert.deepEqual(cycles, [])
})

test('handlers of the daemon never import each other', () => {
  const handlers = ['publish', 'yank', 'owners', 'search', 'me', 'crates']
  const wrong: string[] = []
  for (const [file, targets] of imports) {
    if (!file.startsWith('daemon/') || !handlers.includes(noun(file))) continue
    for (const target of targets) {
      if (
        target.startsWith('daemon/') &&
        handlers.includes(noun(target)) &&
        noun(target) !== noun(file)
      ) {
        wrong.push(`${file} → ${target}`)
      }
    }
  }
  assert.deepEqual(wrong, [])
})

test('no grab-bag files', () => {
  const bags = sources.filter(file =>
    /(^|\/)(utils?|helpers?|common|types|misc)(\.ts$|\/)/.test(file),
  )
  assert.deepEqual(bags, [])
})

test('files stay readable: median at most 120 lines, none over 400', () => {
  const lengths = sources
    .map(file => readFileSync(join(root, file), 'utf8').split('\n').length)
    .sort((a, b) => a - b)
  const long = sources.filter(
    file => readFileSync(join(root, file), 'utf8').split('\n').length > 400,
  )
  assert.deepEqual(long, [])
  assert.ok((lengths[Math.floor(lengths.length / 2)] ?? 0) <= 120)
})

test('every path that ARCHITECTURE.md names exists', () => {
  const text = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')
  const named = [
    ...text.matchAll(/`((?:generator|daemon|site|sample-app|test|bench|docs|scripts)\/[\w./-]*)`/g),
  ].map(m => m[1] ?? '')
  assert.ok(named.length > 10)
  assert.deepEqual(
    named.filter(path => !existsSync(join(root, path))),
    [],
  )
})

function list(folder: string): string[] {
  if (!existsSync(join(root, folder))) return []
  return readdirSync(join(root, folder), { recursive: true })
    .map(name => join(folder, String(name)))
    .filter(name => name.endsWith('.ts'))
    .sort()
}

function importsOf(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8')
  const specifiers = [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(
    match => match[1] ?? '',
  )
  return [...new Set(specifiers.map(one => relative('.', normalize(join(dirname(file), one)))))]
}

/** The noun a file belongs to: its name, or the folder's when the noun has become a folder. */
function noun(file: string): string {
  const [, second = ''] = file.split('/')
  return second.replace(/\.ts$/, '')
}

function layer(file: string): number {
  const index = LAYERS.findIndex(row => row.includes(noun(file)))
  assert.notEqual(index, -1, `${file} has no layer: add its noun to LAYERS`)
  return index
}
