// Mirrors check/command.ts
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Result } from '../../check/check.ts'
import { Client } from '../../check/client.ts'
import { Untried } from '../../check/verdict.ts'
import { startDaemon } from '../conformance/driver-daemon.ts'
import { cargoPath } from '../support/cargo.ts'
import { Cleanup } from '../support/cleanup.ts'
import { expectCode, type Run } from '../support/command.ts'
import { buildCrate, buildEvil } from '../support/crate-builder.ts'
import { gate } from '../support/gate.ts'
import { none } from '../support/none.ts'
import { plimsollHere } from '../support/program.ts'
import { putRelease } from '../support/raw-publish.ts'
import type { Fault, Faults } from '../support/recording-proxy.ts'
import { scratch } from '../support/scratch.ts'

const NEW = '/api/v1/crates/new'
const BUSY: Fault = { meets: 'answer', status: 429, headers: { 'retry-after': '0' } }

/** A registry with a crate, and the command that is to check it. */
async function open(t: TestContext) {
  const cleanup = new Cleanup(t)
  const folder = scratch(cleanup)
  const registry = await startDaemon(cleanup, join(folder, 'daemon'), {})
  const { token } = registry
  const crate = buildCrate({ name: 'foo', version: '1.0.0' })
  await putRelease(registry, token, { name: 'foo', vers: '1.0.0' }, crate)
  registry.requests.clear()
  const check = (args: readonly string[], stopped?: Promise<string>) =>
    plimsollHere(['check', registry.indexUrl, ...args], {}, { stdin: `${token}\n`, stopped })
  const interfere = (faults: Faults) => registry.interfere(faults)
  return { folder, registry, check, interfere }
}
type Opened = Awaited<ReturnType<typeof open>>

/** The ids of results that came out so. */
const idsOf = (results: readonly Result[], status: Result['status']) =>
  results.filter(result => result.status === status).map(({ id }) => id)
const resultsOf = ({ stdout }: Run): Result[] => JSON.parse(stdout)

const WRITE = ['--write', '--token-stdin', '--yes', '--prefix', 'check-']

/** The names of all crates that a run published, of which no version is left without a yank. */
async function yanked({ registry }: Opened): Promise<string[]> {
  const index = await fetch(`${registry.baseUrl}/api/v1/crates?q=check-&per_page=100`)
  const { crates } = (await index.json()) as { crates: { name: string }[] }
  for (const { name } of crates) {
    const answer = await fetch(`${registry.baseUrl}/api/v1/crates/${name}`)
    const { versions } = (await answer.json()) as { versions: { num: string; yanked: boolean }[] }
    const open = versions.filter(({ yanked }) => !yanked)
    assert.deepEqual(open, [], name)
  }
  return crates.map(({ name }) => name)
}

test('a crate that is named is looked at in all its versions, which is said', async t => {
  const folder = scratch(new Cleanup(t))
  mkdirSync(join(folder, 'crates'))
  for (let patch = 0; patch < 12; patch++) {
    const bytes = buildCrate({ name: 'foo', version: `1.0.${patch}` })
    writeFileSync(join(folder, 'crates', `${patch}.crate`), bytes)
  }
  const out = join(folder, 'public')
  const build = ['build', '--from', join(folder, 'crates'), '--out', out, '--no-cache']
  expectCode('build', await plimsollHere([...build, '--base-url', 'http://127.0.0.1:9']), 0)
  const check = async () => plimsollHere(['check', out, '--json', '--crate', 'foo'])
  const good = await check()
  assert.match(good.stderr, /^looked at the bytes of 12 of 12 versions$/m)
  const fails = (run: Run) => idsOf(resultsOf(run), 'fail').filter(id => !/^line-/.test(id))
  assert.deepEqual(fails(good), [])
  const doubled = buildEvil('same path twice', { name: 'foo', version: '1.0.2' })
  const path = join(out, 'crates', 'foo', 'foo-1.0.2.crate')
  writeFileSync(path, doubled)
  const bad = await check()
  assert.equal(bad.code, 1)
  assert.deepEqual(fails(bad), ['download-cksum'])
})

test('a run that publishes says it, prints rows, writes JUnit and badge, and exits with 0', async t => {
  const opened = await open(t)
  const [xml, svg] = [join(opened.folder, 'a.xml'), join(opened.folder, 'a.svg')]
  const run = await opened.check([...WRITE, '--json', '--junit', xml, '--badge', svg])
  expectCode('plimsoll check', run, 0)
  const rows = resultsOf(run)
  const keys = 'id sentence source weight target cargo status seen'
  assert.deepEqual([...new Set(rows.map(row => Object.keys(row).join(' ')))], [keys])
  const count = (status: Result['status']) => idsOf(rows, status).length
  assert.ok(count('pass') > 100)
  assert.equal(count('fail'), 0)
  const counts = `tests="${rows.length}" failures="0" skipped="${count('untried')}"`
  const junit = readFileSync(xml, 'utf8')
  assert.ok(junit.includes(`<testsuite name="${opened.registry.indexUrl}" ${counts}>`))
  assert.equal(junit.match(/<testcase /g)?.length, rows.length)
  assert.match(
    readFileSync(svg, 'utf8'),
    new RegExp(`${count('pass')} of ${count('pass')} statements`),
  )
  assert.match(run.stderr, /^about 20 small crates whose names begin with check- will be published/)
  const names = await yanked(opened)
  const left = [...run.stderr.matchAll(/^left behind, yanked: (\S+)@/gm)].map(([, name]) => name)
  assert.deepEqual([...new Set(left)].sort(), names.sort())
})

test('a crate may be named in other letters, and search is not blamed for one that is not there', async t => {
  const { check } = await open(t)
  for (const name of ['FOO', 'nosuch']) {
    const failed = idsOf(resultsOf(await check(['--json', '--crate', name])), 'fail')
    assert.deepEqual(failed, name === 'nosuch' ? ['file-4'] : [], name)
  }
})

test('what fails stands at the end of the table, and breaks the run', async t => {
  const { check, registry, interfere } = await open(t)
  const page: Fault = { meets: 'answer', status: 200, body: '<html>' }
  interfere(({ url }) => (/\/zq\w+/.test(url) ? page : undefined))
  const run = expectCode('plimsoll check', await check(['--crate', 'foo']), 1)
  const [last, , source, seen, failure] = run.stdout.trimEnd().split('\n').reverse()
  assert.match(last ?? '', /^\d+ statements: \d+ hold, \d+ fail, \d+ not tried$/)
  assert.match(source ?? '', /^ {6}https:\/\/doc\.rust-lang\.org\//)
  assert.match(seen ?? '', /^ {6}breaks builds: .* answers 200, <html>$/)
  assert.match(failure ?? '', /^FAIL {2}missing-\w+: /)
  assert.match(run.stdout, /^- {5}not tried, nothing is published without --write: .*publish-done/m)
  none(registry.requests.all.filter(({ method }) => method !== 'GET'))
})

test('a target that is none, and a publish without a token or a yes, are misuse', async t => {
  const { check } = await open(t)
  const elsewhere = await plimsollHere(['check', 'no-registry'])
  expectCode('no registry', elsewhere, 2)
  assert.match(elsewhere.stderr, /no-registry is not a registry that can be checked/)
  for (const scheme of ['sparse+http', 'http']) {
    const target = `${scheme}://x:sesame@127.0.0.1:1/index.git`
    // Cargo takes no credentials in an address, and reports are shown to many.
    const run = await plimsollHere(
      ['check', target, '--write', '--token-stdin', '--yes'],
      {},
      { stdin: 'token' },
    )
    expectCode(target, run, 2)
    assert.doesNotMatch(run.stderr, /sesame/)
  }
  const both = expectCode('beside another', await check(['no-registry', '--crate', 'foo']), 1)
  assert.match(both.stderr, /no-registry is not a registry that can be checked/)
  assert.match(both.stdout, /statements: /)
  expectCode('no token', await check(['--write', '--yes']), 2)
  expectCode('no yes', await check(['--write', '--token-stdin']), 2)
  expectCode('no name', await check(['--crate', 'a b']), 2)
  expectCode('a long prefix', await check([...WRITE, '--prefix', 'a'.repeat(50)]), 2)
  for (const stdin of ['\n', 'tökén\n'])
    expectCode(stdin, await plimsollHere(['check', 'x', '--token-stdin'], {}, { stdin }), 2)
})

test('of a registry that does not answer, one statement fails, and the others are not tried', async t => {
  const run = await plimsollHere(['check', 'sparse+http://127.0.0.1:1/', '--json'])
  const rows = resultsOf(expectCode('plimsoll check', run, 1))
  assert.deepEqual([idsOf(rows, 'fail'), idsOf(rows, 'pass')], [['config-found'], []])
  const args = ['check', 'sparse+http://127.0.0.1:1/', ...WRITE, '--cargo', cargoPath]
  const writing = await plimsollHere(args, {}, { stdin: 'token' })
  assert.doesNotMatch(writing.stderr, /left behind/)
  assert.match(writing.stdout, / 0 hold, 1 fail, /)
  const { check, interfere } = await open(t)
  interfere(() => ({ ...BUSY, headers: { 'retry-after': '99' } }))
  // It is no success if nothing could be tried.
  expectCode('plimsoll check', await check([]), 1)
})

test('a git index whose HEAD leads nowhere has no config.json', async t => {
  const index = scratch(new Cleanup(t))
  execFileSync('git', ['init', '--quiet', '--bare', index])
  const run = expectCode('plimsoll check', await plimsollHere(['check', index, '--json']), 1)
  assert.deepEqual(idsOf(resultsOf(run), 'fail'), ['config-found'])
})

test('the table is printed also where JUnit and badge cannot be written', async t => {
  const { check, folder } = await open(t)
  const deep = join(folder, 'new', 'a.xml')
  const run = expectCode('plimsoll check', await check(['--junit', deep, '--badge', folder]), 1)
  assert.match(run.stdout, /statements: /)
  assert.match(run.stderr, /^error: /m)
  assert.match(readFileSync(deep, 'utf8'), /<testsuites>/)
})

/** A signal that a test sends to the command. */
function signal() {
  const { opened: stopped, open } = gate<string>()
  return { stop: () => open('SIGINT'), stopped }
}

test('^C ends the wait that a registry asks for', async t => {
  const { check, interfere } = await open(t)
  const { stop, stopped } = signal()
  let isBusy = true
  interfere(() => {
    stop()
    const fault = isBusy ? { ...BUSY, headers: { 'retry-after': '20' } } : undefined
    isBusy = false
    return fault
  })
  const [result] = resultsOf(await check(['--json'], stopped)).filter(
    ({ id }) => id === 'config-found',
  )
  assert.deepEqual([result?.status, result?.seen], ['untried', 'the run was ended'])
})

test('after ^C, what was published is yanked', async t => {
  const opened = await open(t)
  const { stop, stopped } = signal()
  opened.interfere(({ url }) => (url === NEW ? { meets: 'change', change: stop } : undefined))
  const run = expectCode('plimsoll check', await opened.check(WRITE, stopped), 1)
  assert.match(run.stdout, /not tried, the run was ended: /)
  assert.ok((await yanked(opened)).length > 0)
})

test('a publish whose answer is lost is yanked', async t => {
  const opened = await open(t)
  opened.interfere(({ url }) => (url === NEW ? { meets: 'silence', isPassedOn: true } : undefined))
  const run = expectCode('plimsoll check', await opened.check(WRITE), 1)
  const names = await yanked(opened)
  assert.ok(names.length > 5)
  for (const name of names)
    assert.match(run.stderr, new RegExp(`^left behind, yanked: ${name}@`, 'm'))
})

test('429 is obeyed, and counts for nothing', async t => {
  const { check, registry, interfere } = await open(t)
  const right = resultsOf(await check(['--json', '--crate', 'foo']))
  const met = new Set<string>()
  interfere(({ url }) => (met.has(url) ? undefined : met.add(url) && BUSY))
  const busy = resultsOf(await check(['--json', '--crate', 'foo']))
  const statuses = (all: readonly Result[]) => all.map(({ id, status }) => `${id} ${status}`)
  // It is one request with an offer that only it makes, and is not repeated.
  const isAsked = (line: string) => !line.startsWith('http-h2c')
  assert.deepEqual(statuses(busy).filter(isAsked), statuses(right).filter(isAsked))
  assert.ok(met.size > 5)

  const waits: number[] = []
  const client = new Client({}, async ms => waits.push(ms))
  t.after(() => client.close())
  interfere(() => ({ ...BUSY, headers: { 'retry-after': '7' } }))
  await assert.rejects(client.ask(`${registry.baseUrl}/`), Untried)
  assert.deepEqual(waits, Array(8).fill(7000))
  // A time that is over.
  interfere(() => ({ ...BUSY, headers: { 'retry-after': 'Fri, 20 Nov 2026 12:00:00 GMT' } }))
  await assert.rejects(client.ask(`${registry.baseUrl}/`), Untried)
  assert.deepEqual(waits.slice(8), Array(10).fill(0))
})

test('addresses below the base of a folder are read from the folder', async t => {
  const folder = scratch(new Cleanup(t))
  const [from, out] = [join(folder, 'from'), join(folder, 'out')]
  mkdirSync(from)
  writeFileSync(join(from, 'foo-1.0.0.crate'), buildCrate({ name: 'foo', version: '1.0.0' }))
  const base = ['--base-url', 'https://crates.invalid/below']
  expectCode('build', await plimsollHere(['build', '--from', from, '--out', out, ...base]), 0)
  const check = async () => {
    const run = await plimsollHere(['check', out, '--json'])
    return [run.code, resultsOf(run).find(({ id }) => id === 'download-cksum')?.status]
  }
  assert.deepEqual(await check(), [0, 'pass'])
  writeFileSync(join(out, 'crates', 'foo', 'foo-1.0.0.crate'), 'other bytes')
  assert.deepEqual(await check(), [1, 'fail'])
})
