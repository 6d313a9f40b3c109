import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, normalize } from 'node:path'
import { test } from 'node:test'
import { none } from './support/none.ts'
import { root } from './support/plimsoll.ts'

/** What the program has, and the library does not: both need a daemon, or its commands. */
const PROGRAM_ONLY = ['advisories', 'trust', 'upstream', 'webhooks'].map(
  room => `generator/${room}/`,
)

/** Who may import whom: a folder, and the beginnings of the paths that its files may import. */
const MAY: Readonly<Record<string, (from: string) => readonly string[]>> = {
  core: () => ['core/'],
  site: () => ['core/', 'site/'],
  generator: from => [
    'core/',
    'generator/',
    ...(/^generator\/(pages|projections|sandbox)\//.test(from) ? ['site/'] : []),
  ],
  // Only the program knows the table of all commands.
  daemon: from => [
    'daemon/',
    'site/',
    ...exported(),
    ...(from === 'daemon/program.ts' ? ['generator/cli/', 'check/command.ts'] : []),
  ],
  // It asks any registry, and knows nothing of this one.
  check: () => ['check/', 'core/', 'generator/web/', 'generator/git/', 'generator/cli/console/'],
  'sample-app': () => ['sample-app/'],
}

/** Folders of handlers: a handler never imports another. */
const HANDLERS = ['daemon/api/', 'daemon/web/', 'daemon/files/']

/** How high each house may be; a room stands one floor above the highest that it imports. */
const FLOORS_MAX = 8

/** Folders whose loose files are rooms of their own, each. */
const HALLS = ['core', 'site', 'generator', 'generator/projections', 'daemon']

/** What no user gets: programs that measure, and programs that break things. */
const WORKSHOPS = ['test/bench', 'test/chaos']

const LOOSE_FILES_MAX = 15
/** Lines of a folder with all inside it. */
const ROOM_LINES_MAX = 4000
/** One small file an example, all of a kind. */
const GALLERY = 'sample-app/examples'
const FILE_LINES_MAX = 300
const ADR_LINES_MAX = 30
/** The decision on the shape of the code stands for six. */
const SHAPE_LINES_MAX = 60
const COLUMNS_MAX = 100
const PAGE_WORDS_MAX = 2000

/** What uses a timer or a clock in tests, and what for. */
const MAY_USE_TIMERS: Readonly<Record<string, string>> = {
  'test/core/async/repeater.test.ts': 'its timers are mocks',
  'test/architecture.test.ts': 'it names them',
  'test/daemon/api/publish-cargo.test.ts': 'a wire that is slow for real Cargo',
  'test/daemon/workers/git-worker.test.ts': 'its timers are mocks',
  'test/daemon/workers/index-worker.test.ts': 'the pauses asked for are read from a mock',
  'test/support/command.ts': 'a command that hangs is ended',
  'test/support/plimsoll.ts': 'a daemon that hangs is ended',
  'test/support/until.ts': 'what never comes is given up',
}

/** What follows the subject in the name of a test: that it needs a browser, or may take long. */
const NAME_OF_TEST = /(?:\.browser)?(?:\.main|\.slow)?\.test\.ts$/

const sources = Object.keys(MAY).flatMap(list)
const textOf = new Map(sources.map(file => [file, readFileSync(join(root, file), 'utf8')]))
const tests = list('test').filter(
  file => ![...WORKSHOPS, 'test/sample-app'].some(folder => file.startsWith(`${folder}/`)),
)
const textAt = (file: string) => readFileSync(join(root, file), 'utf8')
const imports = new Map(sources.map(file => [file, importsOf(file)]))
const tools = WORKSHOPS.flatMap(list)
const toolText = new Map(tools.map(file => [file, readFileSync(join(root, file), 'utf8')]))
const support = list('test')

test('no folder imports what it may not', () => {
  const wrong = edges().filter(([from, to]) => {
    const allowed = MAY[from.slice(0, from.indexOf('/'))]?.(from) ?? []
    return !allowed.some(start => to.startsWith(start))
  })
  none(wrong)
})

test('no import cycles, types included: neither of files nor of folders, within each other or not', () => {
  assert.deepEqual(cycles(imports), [])
  for (const house of HALLS) assert.deepEqual(cycles(rooms(house)), [], house)
})

test('benches and chaos do not import each other, and nothing of tests imports in a circle', () => {
  const of = new Map(support.map(file => [file, importsOf(file)]))
  assert.deepEqual(cycles(of), [])
  const wrong = tools.flatMap(file => {
    const other = file.startsWith('test/bench/') ? 'test/chaos/' : 'test/bench/'
    return (of.get(file) ?? []).filter(to => to.startsWith(other)).map(to => `${file} → ${to}`)
  })
  none(wrong)
})

test('no house is higher than it may be', () => {
  for (const house of HALLS) {
    const height = Math.max(...floorsOf(rooms(house)).values())
    assert.ok(height <= FLOORS_MAX, `${house} has ${height} floors, at most ${FLOORS_MAX}`)
  }
})

test('a projection imports no other, so that each can be read alone and removed', () => {
  const roomOf = (file: string) => /^generator\/projections\/(\w+)\//.exec(file)?.[1]
  const wrong = edges().filter(([from, to]) => {
    const [own, other] = [roomOf(from), roomOf(to)]
    return own !== undefined && other !== undefined && own !== other
  })
  none(wrong)
})

test('no room is too large, with all inside it', () => {
  const sizes = new Map<string, number>()
  for (const [file, text] of textOf) {
    const room = file.split('/').slice(0, 2).join('/')
    if (room !== file) sizes.set(room, (sizes.get(room) ?? 0) + text.split('\n').length - 1)
  }
  none([...sizes].filter(([, lines]) => lines > ROOM_LINES_MAX))
})

test('the daemon changes records by `makeChange` only, which requires the right to it', () => {
  const handlers = /^daemon\/(?:access|api|files|http|web)\//
  const past = /\.transaction\(|insertInto|updateTable|deleteFrom/
  const wrong = [...textOf].filter(
    ([file, text]) =>
      (handlers.test(file) && /operatorChange/.test(text)) ||
      ((handlers.test(file) || file.startsWith('generator/accounts/')) && past.test(text)),
  )
  none(wrong.map(([file]) => file))
})

test('the daemon has no statements of SQL, and its workers have one shape and one list', () => {
  const daemon = [...textOf].filter(([file]) => file.startsWith('daemon/'))
  const sql = /\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM) [a-z]/
  none(daemon.filter(([, text]) => sql.test(text)).map(([file]) => file))
  const workers = daemon.filter(([file]) => /\/workers\/.*-worker\.ts$/.test(file))
  assert.ok(workers.length >= 6)
  const list = textOf.get('daemon/workers/workers.ts') ?? ''
  for (const [file, text] of workers) {
    const [, name = ''] = /^export class (\w+) implements Worker\b/m.exec(text) ?? []
    assert.ok(list.includes(name === 'PageWorker' ? 'IndexWorker' : name) && name !== '', file)
  }
})

test('one file has the statements on owners, and four have those on releases', () => {
  const on = (table: string) =>
    new RegExp(
      `\\b(?:FROM|JOIN|INTO|UPDATE)\\s+${table}\\b|\\b(?:insert|insertAll|upsert)\\([^']*'${table}'` +
        `|\\bof \\[[^\\]]*'${table}'|\\$\\{(?:${table.toUpperCase()}|${table}As\\()`,
    )
  const having = (table: string) =>
    [...textOf]
      .filter(([file, text]) => !file.startsWith('generator/database/') && on(table).test(text))
      .map(([file]) => file)
  assert.deepEqual(having('owners'), ['generator/records/owners.ts'])
  // What others join with releases is a whole statement there, so that one line decides what shows.
  assert.deepEqual(
    having('releases'),
    ['-changes', '-stored', '-view', ''].map(of => `generator/records/releases${of}.ts`),
  )
})

test('every file of SQLite is opened by one function, which no failed read gets past', () => {
  const all = [...textOf, ...[...tools, ...list('test')].map(file => [file, textAt(file)] as const)]
  const isAnother = (file: string) =>
    !['generator/places/disk/sqlite-file.ts', 'test/architecture.test.ts'].includes(file)
  const opens = /\bnew Libsql\(|\bATTACH\b|\brequire\('libsql'\)|\bimport\('libsql'\)/
  none(all.filter(([file, text]) => isAnother(file) && opens.test(text)).map(([file]) => file))
  const loads = /^import (?!type\b)[^\n]*'libsql'|node:sqlite|better-sqlite3/m
  none([...textOf].filter(([file, text]) => isAnother(file) && loads.test(text)))
})

test('handlers of the daemon never import each other', () => {
  const handlers = sources.filter(
    file =>
      HANDLERS.some(folder => file.startsWith(folder)) &&
      !file.endsWith('/routes.ts') &&
      /\bOpenHandler\b|\bDeps, c: Context\b/.test(textOf.get(file) ?? ''),
  )
  assert.ok(handlers.length >= 11)
  none(edges().filter(([from, to]) => handlers.includes(from) && handlers.includes(to)))
})

test('a folder has few loose files, and none is a grab bag', () => {
  const loose = new Map<string, number>()
  for (const file of [...sources, ...tools])
    loose.set(dirname(file), (loose.get(dirname(file)) ?? 0) + 1)
  none([...loose].filter(([folder, files]) => files > LOOSE_FILES_MAX && folder !== GALLERY))
  none(sources.filter(file => /(^|\/)(utils?|helpers?|common|types|misc)(\.ts$|\/)/.test(file)))
})

test('each folder says in the first line of one file what it is for', () => {
  const styles = ['site/assets/style.css', 'site/assets/style/base.css']
  const first = [...sources, ...styles].map(file => [dirname(file), textAt(file)] as const)
  const folders = [...new Set(first.map(([folder]) => folder))].filter(
    folder => !folder.startsWith('sample-app'),
  )
  const heads = (folder: string) =>
    first.filter(([own, text]) => own === folder && /^(?:\/\/|\/\*) [\w/-]+: /.test(text))
  const isOwn = (folder: string) => {
    const [[, text] = [], ...more] = heads(folder)
    return more.length === 0 && text?.slice('// '.length).startsWith(`${folder}: `)
  }
  none(folders.filter(folder => !isOwn(folder)))
})

test('files stay readable', () => {
  const long = [...textOf, ...toolText].filter(
    ([, text]) => text.split('\n').length - 1 > FILE_LINES_MAX,
  )
  none(long.map(([file]) => file))
})

test('comments and code keep to the width; only a text may be longer', () => {
  const wide = [...textOf].flatMap(([file, text]) =>
    text
      .split('\n')
      .flatMap((line, at) =>
        line.length > COLUMNS_MAX && !/['"`/].*\s.*['"`/]/.test(line) ? [`${file}:${at + 1}`] : [],
      ),
  )
  none(wide)
})

test('public functions and classes say what they promise', () => {
  const silent = [...textOf].flatMap(([file, text]) => {
    if (file.startsWith('sample-app/examples/')) return []
    return [...text.matchAll(/(.*)\n(export (?:async )?(?:function|class) \S+)/g)]
      .filter(([, before = '']) => !before.trimEnd().endsWith('*/') && !before.startsWith('export'))
      .map(([, , definition = '']) => `${file}: ${definition}`)
  })
  none(silent)
})

test('every path that the documents for developers name exists', () => {
  const documents = [
    ...['ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md', 'docs/work/reliability.md'],
    ...readdirSync(join(root, 'docs', 'adr')).map(name => `docs/adr/${name}`),
  ]
  const top = '(?:core|generator|daemon|site|sample-app|test|bench|chaos|docs|scripts|examples)'
  const path = new RegExp(`[\`(](${top}/[\\w./-]*)[\`)]`, 'g')
  const named = documents.flatMap(document =>
    [...readFileSync(join(root, document), 'utf8').matchAll(path)].map(match => match[1] ?? ''),
  )
  assert.ok(named.length > 50)
  none(named.filter(name => !existsSync(join(root, name))))
})

const adr = join(root, 'docs', 'adr')
const decisions = new Map(
  readdirSync(adr).map(name => [name, readFileSync(join(adr, name), 'utf8')]),
)

test('a decision is told on one page', () => {
  const most = (name: string) => (name === '094-shape.md' ? SHAPE_LINES_MAX : ADR_LINES_MAX)
  none([...decisions].filter(([name, text]) => text.split('\n').length - 1 > most(name)))
})

test('a page that everyone should read stays short', () => {
  const words = (page: string) => textAt(`docs/${page}`).split(/\s+/).length
  none(['run/security.md', 'work/performance.md'].filter(page => words(page) > PAGE_WORDS_MAX))
})

test('every dependency has its line in docs/adr', () => {
  const reasons = [...decisions.values()]
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<
    string,
    Record<string, string>
  >
  const { dependencies, devDependencies, peerDependencies } = manifest
  const named = Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies })
  assert.deepEqual(
    named.filter(
      name =>
        !name.startsWith('@types/') && !reasons.some(reason => reason.includes(`\`${name}\``)),
    ),
    [],
  )
})

test('the name of a test says in one order what it needs, and that it may take long', () => {
  const all = [...list('test'), ...list('sample-app')].filter(file => file.endsWith('.test.ts'))
  assert.ok(all.length > 300)
  none(all.filter(file => !/^[\w-]+$/.test(basename(file).replace(NAME_OF_TEST, ''))))
})

test('a test stands where its subject stands: it has its name, or names it in the first line', () => {
  const lost = tests.filter(file => {
    if (!/^test\/(?:core|site|generator|daemon)\/.*\.test\.ts$/.test(file)) return false
    const subject = file.slice('test/'.length).replace(NAME_OF_TEST, '')
    const folder = dirname(subject)
    const named = /^\/\/ Mirrors ([\w./-]+)/.exec(readFileSync(join(root, file), 'utf8'))?.[1]
    if (named) return !existsSync(join(root, named.replace(/\.$/, '')))
    // `publish-refused` is about `publish`.
    const words = basename(subject).split('-')
    return !words.some((_, at) => {
      const name = join(root, folder, words.slice(0, words.length - at).join('-'))
      return existsSync(`${name}.ts`) || existsSync(name)
    })
  })
  none(lost)
})

test('no test depends on a clock: what must come is waited for, what must not gets the chance to', () => {
  const clock =
    /\bperformance\.now|\bsetTimeout|(?<!new Date\()\bDate\.now\(\) [-<>]|[-<>] Date\.now\b|timers\/promises/
  const timed = tests.filter(
    file =>
      !Object.hasOwn(MAY_USE_TIMERS, file) && clock.test(readFileSync(join(root, file), 'utf8')),
  )
  none(timed)
})

test('a promise that a variable keeps is awaited, or has a handler, in the next statement', () => {
  // Otherwise it may be rejected while nobody looks, which ends the process.
  const dropped = [...textOf].flatMap(([file, text]) => {
    const lines = text.split('\n')
    return lines.flatMap((line, at) => {
      const begin =
        /^( *)(?:const|let) (\w+)(?:: [^=]+)? = (?!await |new Promise|Promise\.resolve)/.exec(line)
      if (!begin) return []
      const [, { length: indent } = '', name = ''] = begin
      const rest = lines.slice(at + 1).filter(each => !/^ *(?:\/\/.*)?$/.test(each))
      const end = rest.findIndex(each => each.search(/\S/) < indent)
      const block = rest.slice(0, end)
      const statement = block.findIndex(each => each.search(/[^ )\]}]/) === indent)
      const [next = '', ...more] = block.slice(statement)
      const use = new RegExp(`\\bawait ${name}(?:[ ),]|$)`)
      const handler = new RegExp(`^ *(?:(?:const|let) .* = )?await ${name}$|\\b${name}\\.catch\\(`)
      return [next, ...more].some(each => use.test(each)) && !handler.test(next)
        ? [`${file}:${at + 1}: ${name}`]
        : []
    })
  })
  none(dropped)
})

/**
 * The beginnings of the sources' paths that the daemon sees: what the package exports, and what
 * only the program has.
 */
function exported(): string[] {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    exports: Record<string, string>
  }
  const paths = Object.values(manifest.exports)
    .filter(path => path.startsWith('./dist/'))
    .map(path => path.slice('./dist/'.length).replace(/\*?\.js$/, ''))
  return [...paths, ...PROGRAM_ONLY]
}

function list(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true })
    .map(name => join(folder, String(name)).replaceAll('\\', '/'))
    .filter(name => name.endsWith('.ts'))
    .sort()
}

function importsOf(file: string): string[] {
  const specifiers = [
    ...readFileSync(join(root, file), 'utf8').matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+\.ts)'/g),
  ].map(match => match[1] ?? '')
  return [...new Set(specifiers.map(specifier => normalize(join(dirname(file), specifier))))]
}

function edges(): [from: string, to: string][] {
  return [...imports].flatMap(([from, targets]) =>
    targets.map((to): [string, string] => [from, to]),
  )
}

/**
 * The rooms of a house, each with those that it imports: every folder that has files of its own,
 * without the folders in it, and every loose file of a hall.
 */
function rooms(house: string): Map<string, string[]> {
  const roomOf = (file: string) => (HALLS.includes(dirname(file)) ? file : dirname(file))
  const imported = new Map<string, Set<string>>()
  for (const file of sources.filter(source => source.startsWith(`${house}/`)))
    imported.set(roomOf(file), new Set())
  for (const [from, to] of edges())
    if (to.startsWith(`${house}/`) && roomOf(from) !== roomOf(to))
      imported.get(roomOf(from))?.add(roomOf(to))
  return new Map([...imported].map(([room, targets]) => [room, [...targets]]))
}

function cycles(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const circles: string[] = []
  const done = new Set<string>()
  const visit = (node: string, trail: readonly string[]): void => {
    if (trail.includes(node)) circles.push([...trail.slice(trail.indexOf(node)), node].join(' → '))
    if (done.has(node) || trail.includes(node)) return
    for (const target of graph.get(node) ?? []) visit(target, [...trail, node])
    done.add(node)
  }
  for (const node of graph.keys()) visit(node, [])
  return circles
}

function floorsOf(graph: ReadonlyMap<string, readonly string[]>): Map<string, number> {
  const floors = new Map<string, number>()
  const floorOf = (room: string): number => {
    const counted = floors.get(room)
    if (counted !== undefined) return counted
    const floor = 1 + Math.max(0, ...(graph.get(room) ?? []).map(floorOf))
    floors.set(room, floor)
    return floor
  }
  for (const room of graph.keys()) floorOf(room)
  return floors
}
