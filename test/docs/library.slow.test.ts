import assert from 'node:assert/strict'
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { dirname, join } from 'node:path'
import { before, type TestContext, test } from 'node:test'
import { Cleanup } from '../support/cleanup.ts'
import { expectCode, run } from '../support/command.ts'
import { buildCrate } from '../support/crate-builder.ts'
import { closeServer, listen } from '../support/loopback.ts'
import { none } from '../support/none.ts'
import { root } from '../support/plimsoll.ts'
import { scratch } from '../support/scratch.ts'

const env = { PATH: process.env.PATH, HOME: process.env.HOME }

/** The types of Node, and what they need. */
const TYPES = ['node_modules/@types/node', 'node_modules/undici-types']

/** What `npm pack` puts into the package, by path. */
let packed: readonly string[] = []

/**
 * A folder in which the packed files are installed as `plimsoll`, beside the packages it needs and
 * the types of Node, which its user has.
 */
async function installed(t: TestContext): Promise<string> {
  const folder = scratch(new Cleanup(t))
  const modules = join(folder, 'node_modules')
  mkdirSync(modules)
  writeFileSync(join(folder, 'package.json'), '{}')
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { readonly dev?: boolean }>
  }
  const needed = Object.entries(packages).filter(([, { dev }]) => !dev)
  for (const name of [...needed.map(([path]) => path), ...TYPES]) {
    if (!/^node_modules\/(?:@[^/]+\/)?[^/]+$/.test(name) || !existsSync(join(root, name))) continue
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    symlinkSync(join(root, name), join(folder, name))
  }
  for (const path of packed)
    cpSync(join(root, path), join(modules, 'plimsoll', path), { recursive: true })
  return folder
}

/** The program of docs/build/library.md. */
function documented(): string {
  const text = readFileSync(join(root, 'docs', 'build', 'library.md'), 'utf8')
  return /^```js\n([\s\S]*?)^```$/m.exec(text)?.[1] ?? ''
}

// Tests run without the types of the package.
before(async () => {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const options = { cwd: root, env, timeoutMs: 300_000 }
  const compiled = await run(process.execPath, [compiler, '--emitDeclarationOnly'], options)
  expectCode('tsc', compiled, 0)
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts']
  const { stdout } = expectCode('npm pack', await run('npm', args, { cwd: root, env }), 0)
  packed = JSON.parse(stdout)[0].files.map((file: { path: string }) => file.path)
})

test('a package has the compiled registry, its assets and licenses, and nothing else', () => {
  for (const path of ['README.md', 'CHANGELOG.md', 'LICENSE-APACHE', 'LICENSE-MIT', 'package.json'])
    assert.ok(packed.includes(path), path)
  for (const path of ['assets/style.css', 'program/cli.js', 'generator/registry/registry.d.ts'])
    assert.ok(packed.includes(`dist/${path}`), path)
  const compiled =
    /^dist\/(?:assets|core|daemon|generator|program|site)\/.*\.(?:js|d\.ts|css|svg|ico|png)$/
  const beside = /^(?:LICENSE-\w+|\w+\.md|package\.json|dist\/commit)$/
  none(packed.filter(path => !compiled.test(path) && !beside.test(path)))
})

test('a package has at most 940 files, and whatever its files import', () => {
  assert.ok(packed.length <= 940, `${packed.length} files`)
  const wanted = packed
    .filter(path => /^dist\/(?:core|generator|site)\//.test(path))
    .flatMap(path => {
      const text = readFileSync(join(root, path), 'utf8')
      const imports = text.matchAll(/(?:from|import)\s*\(?\s*["'](\.[^"']+)\.(?:js|ts)["']/g)
      const end = path.endsWith('.d.ts') ? '.d.ts' : '.js'
      return [...imports].map(([, specifier]) => join(dirname(path), `${specifier}${end}`))
    })
  assert.ok(wanted.length > 500)
  const files = new Set(packed)
  none(wanted.filter(path => !files.has(path)))
})

test('the programs of docs/build/library.md run against the package, and so does its command', async t => {
  const folder = await installed(t)
  writeFileSync(join(folder, 'example.mjs'), documented())
  mkdirSync(join(folder, 'crates'))
  const bytes = buildCrate({ name: 'demo', version: '1.0.0' })
  writeFileSync(join(folder, 'crates', 'demo-1.0.0.crate'), bytes)
  const options = { cwd: folder, env }
  const ended = await run(process.execPath, ['example.mjs'], options)
  assert.equal(expectCode('example.mjs', ended, 0).stdout, '1 versions of 1 crates\n', ended.stderr)
  assert.ok(existsSync(join(folder, 'public/index/de/mo/demo')))
  cpSync(join(root, 'examples', 'own-registry.mjs'), join(folder, 'own-registry.mjs'))
  // It ends after its work, because it cannot listen there.
  const other = createServer()
  const { port } = new URL(await listen(other))
  const own = await run(process.execPath, ['own-registry.mjs', port, 'crates'], options)
  await closeServer(other)
  assert.match(own.stdout, /^added demo 1\.0\.0$/m, own.stderr)
  const program = join('node_modules', 'plimsoll', 'dist', 'program', 'cli.js')
  const status = await run(process.execPath, [program, 'status', '--json'], options)
  assert.equal(JSON.parse(expectCode('status', status, 0).stdout).releases, 1)
})

test('the package has types', async t => {
  const folder = await installed(t)
  const lines = [
    "import { type Refusal } from 'plimsoll/core/error/error'",
    "import { openRegistry } from 'plimsoll/open'",
    "import type { Registry } from 'plimsoll/registry/registry'",
    "export const opened: Promise<Registry> = openRegistry('registry', { env: {} })",
    'export const codes = (refusal: Refusal): string[] => refusal.issues.map(issue => issue.code)',
    '// @ts-expect-error: a folder is a text',
    'void openRegistry(1, { env: {} })',
  ]
  writeFileSync(join(folder, 'user.mts'), lines.join('\n'))
  writeFileSync(join(folder, 'example.mts'), documented())
  cpSync(join(root, 'examples', 'own-registry.mjs'), join(folder, 'own-registry.mjs'))
  const declarations = packed.filter(path => path.endsWith('.d.ts'))
  const files = [
    'user.mts',
    'example.mts',
    'own-registry.mjs',
    ...declarations.map(path => join('node_modules', 'plimsoll', path)),
  ]
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const options = [
    ...['--noEmit', '--strict', '--checkJs', '--target', 'es2023', '--types', 'node'],
  ]
  for (const [module, resolution] of [
    ['node16', 'node16'],
    ['esnext', 'bundler'],
  ] as const) {
    const args = [compiler, ...options, '--module', module, '--moduleResolution', resolution]
    const ended = await run(process.execPath, [...args, ...files], { cwd: folder, env })
    assert.equal(ended.code, 0, ended.stdout)
  }
})
