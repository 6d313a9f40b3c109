import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { settingTable } from '../../core/settings/schema.ts'
import { rustSecFile } from '../support/advisories.ts'
import { Cleanup } from '../support/cleanup.ts'
import { expectCode, run } from '../support/command.ts'
import { buildCrate } from '../support/crate-builder.ts'
import { gate } from '../support/gate.ts'
import { none } from '../support/none.ts'
import { root } from '../support/plimsoll.ts'
import { plimsollHere } from '../support/program.ts'
import { scratch } from '../support/scratch.ts'

/** Why a documented command is not run here, by a text that begins it. */
const NOT_RUN: ReadonlyMap<string, string> = new Map([
  ['plimsoll completion fish >', 'it needs the folder of an installed fish'],
  ['plimsoll migrate --to ', 'test/contract/move plays it with a server'],
  ['plimsoll migrate --crates s3://', 'test/generator/migrate plays it with a bucket'],
  ['plimsoll deploy --from public --to s3://', 'test/generator/deploy plays it with a bucket'],
  ['plimsoll push target/package/demo-1.0.0.crate --to s3://', 'test/generator/cli plays it'],
  ['plimsoll check sparse+', 'the registry is on another host'],
  ['plimsoll trust ', 'test/daemon/commands/trust plays it with made-up issuers'],
  ['plimsoll token exchange ', 'test/daemon/commands/trust plays it with a daemon'],
  ['plimsoll webhook ', 'test/daemon/workers/webhook-worker plays it with a receiver'],
  ['plimsoll group title 6f1c', 'test/daemon/commands/oidc plays it with a group'],
  ['plimsoll user move-issuer ', 'test/daemon/commands/oidc plays it with an issuer'],
  ['plimsoll upstream ', 'test/generator/cli/upstream plays it with a made-up upstream'],
  ['plimsoll user password alice', 'test/daemon/commands/user plays it at a terminal'],
  ['npx plimsoll user password alice', 'test/daemon/commands/user plays it at a terminal'],
  ['aws ', 'it is another program'],
  ['pg_dump ', 'it is another program'],
  ['git clone …', 'the address is a placeholder'],
  ['npm ', 'its script works on this checkout; that there is one is checked'],
  ['cargo ', 'test/conformance/ plays publish, add and login with real Cargo'],
  ['test/conformance/debian-cargo.sh ', 'it downloads packages; that it exists is checked'],
  ['PLIMSOLL_CARGO=', 'it runs the conformance suite; that the suite exists is checked'],
  ['PLIMSOLL_TEST_DATABASE=', 'it runs the conformance suite; that the suite exists is checked'],
  ['export PLIMSOLL_IMPORT_TOKEN=', 'the token is a placeholder'],
  ['npx plimsoll import sparse+https://', 'the registry is on another host'],
  ['tar -xzf plimsoll-', 'npm run check:deploy unpacks what a release has'],
  ['plimsoll-0.2.0-linux-x64/', 'npm run check:deploy runs what a release has'],
  ['plimsoll health', 'test/daemon/commands/health plays it with a daemon'],
  ['npx --yes --package ', 'test/docs/first-steps plays it with an empty cache'],
  ['sha256sum ', 'npm run check:deploy compares the checksums of a release'],
  ['cd /opt/plimsoll', 'it changes the machine'],
  ['docker ', 'no container engine; npm run check:deploy performs the Dockerfile'],
  ['export PLIMSOLL_URL=', 'it is for docker'],
  ['helm ', 'no cluster; npm run check:deploy renders the chart'],
  ['kubectl ', 'no cluster'],
  ['sudo ', 'it changes the machine; test/deploy/ checks the unit'],
  ['echo ', 'it changes the machine'],
  ['litestream ', 'it is another program'],
  ['npx plimsoll import https://', 'the registry is on another host'],
  ['plimsoll advisories check Cargo.lock --from https://', 'the registry is on another host'],
  ['git clone --depth 1 https://', 'the repository is on another host'],
  ['plimsoll user unlink ', 'test/daemon/commands/oidc plays it with a link'],
  ['plimsoll impact demo --advisory ', 'test/generator/impact plays it with an advisory'],
])

/** The one crate of all scenes. */
const FILE = 'demo-1.0.0.crate'

/** What a document takes for granted, made in the folder in which its commands run. */
const SCENES: Readonly<Record<string, (folder: string) => Promise<void>>> = {
  'README.md': async folder => writeCrate(join(folder, 'crates')),
  'docs/use/commands.md': async folder => {
    for (const name of ['crates', 'target/package']) writeCrate(join(folder, name))
    writeCrate(join(folder, 'vendor'), '1.1.0')
    writeCrate(join(folder, 'packages'), '1.2.0')
    writeFileSync(join(folder, 'password.txt'), 'correct horse battery staple\n')
    await ok(folder, 'build', '--from', 'packages', '--out', 'old-registry')
    writeFileSync(join(folder, 'access.log'), '')
    writeFileSync(join(folder, 'Cargo.lock'), 'version = 4\n')
    mkdirSync(join(folder, 'advisory-db'))
    writeFileSync(join(folder, 'advisory-db', 'RUSTSEC-2026-0001.md'), rustSecFile({}))
  },
  'docs/run/advisories.md': async folder => {
    await inSrv(folder)
    mkdirSync(join(folder, 'advisory-db'))
    writeFileSync(join(folder, 'advisory-db', 'RUSTSEC-2026-0001.md'), rustSecFile({}))
  },
  'docs/run/users.md': async folder => {
    await ok(folder, 'init')
    await ok(folder, 'user', 'add', 'admin')
    for (let count = 0; count < 2; count++) await ok(folder, 'token', 'create', '--user', 'admin')
  },
  'docs/run/login.md': async folder => {
    await ok(folder, 'init')
    const section = '\n[oidc.company]\nissuer = "https://login.example.com"\nclient_id = "x"\n'
    appendFileSync(join(folder, 'registry', 'plimsoll.toml'), section)
    for (const login of ['root', 'alice']) await ok(folder, 'user', 'add', login)
  },
  'docs/run/downloads.md': async folder => {
    await ok(folder, 'init')
    appendFileSync(join(folder, 'registry', 'plimsoll.toml'), '[downloads]\ncount = "imported"\n')
    mkdirSync(join(folder, 'srv', 'logs'), { recursive: true })
    for (const name of ['access.log', 'access.log.1.gz'])
      writeFileSync(join(folder, 'srv', 'logs', name), '')
  },
  'docs/run/object-storage.md': async folder => writeCrate(join(folder, 'crates')),
  'docs/run/install.md': async folder => writeCrate(join(folder, 'crates')),
  'docs/run/backup.md': inSrv,
  'docs/run/incidents.md': async folder => {
    await inSrv(folder)
    await ok(folder, 'user', 'add', 'admin', '--dir', 'srv/registry')
    await ok(folder, 'token', 'create', '--user', 'admin', '--dir', 'srv/registry')
  },
  'docs/run/postgresql.md': inSrv,
  'docs/run/several-registries.md': async folder => {
    mkdirSync(join(folder, 'home', '.cargo'))
  },
  'docs/run/upstream.md': async folder => {
    await ok(folder, 'init', '--base-url', 'https://crates.example.com')
    appendFileSync(join(folder, 'registry', 'plimsoll.toml'), '\n[upstream.crates-io]\n')
    writeFileSync(join(folder, 'Cargo.lock'), 'version = 4\n')
  },
  'docs/run/import.md': async folder => {
    const [crates, tree] = [join(folder, 'made'), join(folder, 'tree')]
    writeCrate(crates)
    await ok(folder, 'build', '--from', crates, '--out', tree)
    const srv = join(folder, 'srv')
    for (const name of ['old-registry', 'margo']) cpSync(tree, join(srv, name), { recursive: true })
    for (const [index, store] of [
      ['alexandrie/crate-index', 'alexandrie/crate-storage'],
      ['ktra/index', 'ktra/crates'],
    ] as const) {
      cpSync(join(tree, 'index'), join(srv, index), { recursive: true })
      cpSync(crates, join(srv, store), { recursive: true })
      const git = ['-C', join(srv, index), '-c', 'user.name=t', '-c', 'user.email=t@localhost']
      for (const args of [
        ['init', '-q'],
        ['add', '.'],
        ['commit', '-q', '-m', 'index'],
      ])
        expectCode('git', await run('git', [...git, ...args], { cwd: folder, env: process.env }), 0)
    }
    const vendored = join(folder, 'vendor', 'demo')
    mkdirSync(vendored, { recursive: true })
    writeFileSync(join(vendored, 'Cargo.toml'), '[package]\nname = "demo"\nversion = "1.0.0"\n')
    const cksum = createHash('sha256')
      .update(readFileSync(join(crates, FILE)))
      .digest('hex')
    const sums = JSON.stringify({ files: {}, package: cksum })
    writeFileSync(join(vendored, '.cargo-checksum.json'), sums)
    writeCrate(join(folder, 'home', '.cargo', 'registry', 'cache', 'index'))
  },
}

const documents = ['README.md', ...listed('docs'), 'CONTRIBUTING.md', 'SECURITY.md']
const commands = new Map(documents.map(name => [name, commandsOf(name)]))

for (const [name, lines] of commands) {
  const runnable = lines.filter(line => !reasonOf(line))
  if (runnable.length === 0) continue
  test(`the commands of ${name} work: ${runnable.length} of ${lines.length}`, async t => {
    const folder = await stage(t, name)
    for (const line of runnable) {
      const local = line
        .replaceAll('/srv/', `${folder}/srv/`)
        .replace('--dir /data', `--dir ${folder}/data`)
        .replace('127.0.0.1:8080', '127.0.0.1:0')
        .replace(/--listen \S+/, '--listen 127.0.0.1:0')
      const words = wordsOf(folder, local)
      expectCode(line, await (words ? here(folder, words) : shell(folder, local)), 0)
    }
  })
}

test('every command and option of `plimsoll` that the documents show exists', async () => {
  // That one is rendered from the declarations, and its commands are run.
  const written = [...commands].filter(([name]) => name !== 'docs/use/commands.md')
  for (const line of written.flatMap(([, lines]) => lines)) {
    const words = /^(?!helm )(?:.* )?plimsoll (.*)$/.exec(line)?.[1]?.split(/\s+/) ?? []
    if (words.length === 0) continue
    const [first = '', second = ''] = words
    const command = ['user', 'token', 'downloads', 'trust', 'advisories'].includes(first)
      ? [first, second]
      : [first]
    const help = await plimsollHere([...command, '--help'])
    assert.equal(help.code, 0, line)
    for (const option of words.filter(word => word.startsWith('--')))
      assert.match(help.stdout, new RegExp(`${option.replace(/=.*/, '')}\\b`), line)
  }
})

test('every npm script and every program that the documents show exists', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>
  }
  for (const line of [...commands.values()].flat()) {
    const script = /\bnpm (?:run )?([\w:]+)/.exec(line)?.[1]
    if (script && !['ci', 'install', 'link', 'pack'].includes(script))
      assert.ok(Object.hasOwn(scripts, script), line)
    const program = /^(test\/\S+|scripts\/\S+)/.exec(line)?.[1]
    if (program) assert.ok(existsSync(join(root, program)), line)
    const suite = /npm test -- (.*)/.exec(line)?.[1]
    for (const word of suite?.split(' ') ?? [])
      assert.ok(
        [...readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })].some(path =>
          `test/${path}`.replaceAll('\\', '/').includes(word),
        ),
        line,
      )
  }
})

test('every setting that the documents name exists', () => {
  const sections = new Set([...settingTable.values()].map(({ section }) => section))
  const ofCargo = ['registry.default']
  // The messages name misspelled ones as examples.
  for (const name of documents.filter(name => name !== 'docs/use/messages.md')) {
    const text = readFileSync(join(root, name), 'utf8')
    for (const [, key = '', section = ''] of text.matchAll(/`((\w+)\.[a-z_]+)(?: = [^`]+)?`/g))
      if (sections.has(section) && !/\.(?:json|svg)$/.test(key) && !ofCargo.includes(key))
        assert.ok(settingTable.has(key), `${name}: ${key}`)
  }
})

test('every reason not to run a command is about a command that is there', () => {
  const all = [...commands.values()].flat()
  none([...NOT_RUN.keys()].filter(start => !all.some(line => line.startsWith(start))))
})

function listed(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.md') && !name.startsWith('adr'))
    .map(name => `${folder}/${name}`)
    .sort()
}

/**
 * The commands of a document: lines of `sh` blocks, without their comments, and prompts of
 * `console` blocks.
 */
function commandsOf(name: string): string[] {
  const text = readFileSync(join(root, name), 'utf8')
  return [...text.matchAll(/^```(sh|console)\n([\s\S]*?)^```$/gm)].flatMap(([, kind, block = '']) =>
    block
      .replaceAll('\\\n', ' ')
      .split('\n')
      .filter(line => kind === 'sh' || line.startsWith('$ '))
      .map(line =>
        line
          .replace(/^\$ /, '')
          .replace(/(?:^|\s+)#\s.*$/, '')
          .trim(),
      )
      .filter(line => line !== ''),
  )
}

function reasonOf(line: string): string | undefined {
  for (const [start, reason] of NOT_RUN) if (line.startsWith(start)) return reason
  return undefined
}

/** A folder in which the document's commands find what they need. */
async function stage(t: TestContext, name: string): Promise<string> {
  const folder = scratch(new Cleanup(t))
  for (const name of ['bin', 'home']) mkdirSync(join(folder, name))
  const program = join(root, 'dist', 'program', 'cli.js')
  const start = `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`
  writeFileSync(join(folder, 'bin', 'plimsoll'), start, { mode: 0o755 })
  await SCENES[name]?.(folder)
  return folder
}

function environment(folder: string): NodeJS.ProcessEnv {
  const path = [join(folder, 'bin'), dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter)
  return { PATH: path, HOME: join(folder, 'home'), PLIMSOLL_LISTEN: '127.0.0.1:0' }
}

function shell(folder: string, line: string) {
  return run('sh', ['-c', line], { cwd: folder, env: environment(folder) })
}

/** Returns the words of a plain command of `plimsoll`; null of one that needs a shell. */
function wordsOf(folder: string, line: string): string[] | null {
  const words = /^(?:npx )?plimsoll ((?:"[^"$`]*"|[^|&;<>$`"])+)$/.exec(line)?.[1]
  if (words === undefined) return null
  const [home, word] = [`${join(folder, 'home')}/`, /"([^"]*)"|'([^']*)'|(\S+)/g]
  return [...words.matchAll(word)].map(([, double, single, bare = '']) =>
    (double ?? single ?? bare).replace(/^~\//, home),
  )
}

/** Runs a command in this process: a hundred of their own take half a minute. One that listens ends. */
async function here(folder: string, words: readonly string[]) {
  const { PATH: _, ...env } = environment(folder)
  const { opened: stopped, open: stop } = gate<string>()
  const onPrinted = (text: string) => {
    if (/^listening on /m.test(text)) stop('the end of the test')
  }
  return plimsollHere(words, env, { cwd: folder, onPrinted, stopped })
}

/** A registry with the one crate. */
async function inSrv(folder: string): Promise<void> {
  writeCrate(join(folder, 'made'))
  await ok(folder, 'init', '--dir', 'srv/registry')
  await ok(folder, 'add', 'made', '--dir', 'srv/registry')
}

/** A `.crate` file as `cargo package` would leave it. */
function writeCrate(folder: string, version = '1.0.0'): void {
  mkdirSync(folder, { recursive: true })
  const bytes = buildCrate({ name: 'demo', version })
  writeFileSync(join(folder, FILE.replace('1.0.0', version)), bytes)
}

async function ok(folder: string, ...args: readonly string[]): Promise<void> {
  expectCode(`plimsoll ${args.join(' ')}`, await plimsollHere(args, {}, { cwd: folder }), 0)
}
