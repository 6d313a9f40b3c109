import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Cleanup } from '../../support/cleanup.ts'
import { expectCode, type Run } from '../../support/command.ts'
import { buildCrate } from '../../support/crate-builder.ts'
import { plimsoll as program, serve } from '../../support/plimsoll.ts'
import { encodePublish, plainMetadata } from '../../support/release.ts'
import { until } from '../../support/until.ts'
import { folderOf } from '../../support/workplace.ts'

const ENV = { PLIMSOLL_GIT_INDEX: 'off' }
const VERSIONS = Array.from({ length: 12 }, (_, minor) => `1.${minor}.0`)
const EXISTS = (version: string) =>
  `\`race\` ${version} already exists; a published version never changes, publish a new one`

/** What became of each version at the hands of one of those who wanted to add it: won, or the objections. */
type Fate = ReadonlyMap<string, 'won' | readonly string[]>

/** A registry, and for each of two people a folder with the same versions of one crate, but other bytes. */
async function scene(t: TestContext) {
  const folder = folderOf(t)
  const dir = join(folder, 'registry')
  const plimsoll = (...args: string[]): Promise<Run> =>
    program(folder, [...args, '--dir', dir], ENV)
  expectCode('init', await plimsoll('init', '--base-url', 'http://127.0.0.1:1'), 0)
  const bytes = (who: string, version: string) =>
    buildCrate({
      name: 'race',
      version,
      files: { 'src/lib.rs': `pub const WHO: &str = "${who}";\n` },
    })
  for (const who of ['one', 'two']) {
    mkdirSync(join(folder, who))
    for (const version of VERSIONS)
      writeFileSync(join(folder, who, `race-${version}.crate`), bytes(who, version))
  }
  const add = async (who: string): Promise<Fate> => {
    const run = await plimsoll('add', who, '--json')
    assert.ok(run.stdout, `add printed no report, ended with ${run.code} and said ${run.stderr}`)
    const report = JSON.parse(run.stdout) as { path: string; outcome?: string; errors?: string[] }[]
    assert.equal(run.code, report.some(line => line.errors) ? 1 : 0, run.stderr)
    return new Map(
      report.map(({ path, outcome, errors }) => {
        const version = /race-(.*)\.crate$/.exec(path)?.[1] ?? ''
        return [version, outcome === 'added' ? 'won' : (errors ?? [`outcome ${outcome}`])]
      }),
    )
  }
  return { folder, dir, plimsoll, bytes, add }
}

type Scene = Awaited<ReturnType<typeof scene>>

/** Of every version exactly one won, the other heard why not, and what is shown everywhere is the winner's. */
async function judge(
  { dir, plimsoll, bytes }: Scene,
  fates: Readonly<Record<string, Fate>>,
): Promise<void> {
  const lines = readFileSync(join(dir, 'public', 'index', 'ra', 'ce', 'race'), 'utf8')
    .trimEnd()
    .split('\n')
  const shown = new Map(
    lines
      .map(line => JSON.parse(line) as { vers: string; cksum: string })
      .map(line => [line.vers, line.cksum]),
  )
  assert.equal(lines.length, VERSIONS.length)
  for (const version of VERSIONS) {
    const won = Object.keys(fates).filter(who => fates[who]?.get(version) === 'won')
    assert.equal(won.length, 1, `${version} was won by ${won.join(' and ') || 'nobody'}`)
    const [loser = ''] = Object.keys(fates).filter(who => !won.includes(who))
    assert.deepEqual(fates[loser]?.get(version), [EXISTS(version)])
    const expected = Buffer.from(bytes(won[0] ?? '', version))
    assert.equal(shown.get(version), createHash('sha256').update(expected).digest('hex'))
    assert.deepEqual(
      readFileSync(join(dir, 'public', 'crates', 'race', `race-${version}.crate`)),
      expected,
    )
  }
  assert.deepEqual(
    readdirSync(join(dir, 'crates', 'incoming')),
    [],
    'the losers leave no half-written file',
  )
  expectCode('build', await plimsoll('build'), 0)
  assert.match((await plimsoll('verify')).stdout, /^everything agrees$/m)
}

test('two processes add the same versions at once: of each, one wins and the other hears that it exists', async t => {
  const here = await scene(t)
  const [first, second] = await Promise.all([here.add('one'), here.add('two')])
  await judge(here, { one: first, two: second })
})

test('a process adds what a daemon takes in at the same time: of each version, one wins', async t => {
  const here = await scene(t)
  expectCode('user add', await here.plimsoll('user', 'add', 'root', '--admin'), 0)
  const token = expectCode(
    'token',
    await here.plimsoll('token', 'create', '--user', 'root'),
    0,
  ).stdout.trim()
  const daemon = await serve(new Cleanup(t), here.dir, ENV)
  const adding = here.add('one')
  const two = new Map<string, 'won' | readonly string[]>()
  // The process takes a while to start: the daemon begins when it has begun.
  const first = join(here.dir, 'public', 'crates', 'race', `race-${VERSIONS[0]}.crate`)
  const begun = await Promise.race([adding, waitFor(first)])
  for (const version of [...VERSIONS].reverse()) {
    const body = encodePublish(plainMetadata('race', version), here.bytes('two', version))
    const response = await fetch(`${daemon.url}/api/v1/crates/new`, {
      method: 'PUT',
      headers: { authorization: token },
      body: Buffer.from(body),
    })
    const answer = (await response.json()) as { errors?: { detail: string }[] }
    two.set(version, answer.errors?.map(error => error.detail) ?? 'won')
  }
  await judge(here, { one: await adding, two })
  assert.equal(begun, first, 'they were at it together')
})

/** The path, when there is a file. */
async function waitFor(path: string): Promise<string> {
  await until(
    () => existsSync(path),
    () => `there is no ${path}`,
  )
  return path
}
