// Mirrors check/rows/all.ts
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createSecureServer } from 'node:http2'
import { createServer } from 'node:https'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { SecureContextOptions } from 'node:tls'
import { cargoVersion } from '../../check/cargo.ts'
import { check, play, type Result } from '../../check/check.ts'
import { Client } from '../../check/client.ts'
import { frame, make } from '../../check/package.ts'
import { type CheckRun, chosen } from '../../check/probes.ts'
import { topics } from '../../check/rows/all.ts'
import { openTarget, type Target } from '../../check/target.ts'
import { startDaemon } from '../conformance/driver-daemon.ts'
import { cargoPath } from '../support/cargo.ts'
import { makeCertificate } from '../support/certificate.ts'
import { Cleanup } from '../support/cleanup.ts'
import { listen } from '../support/loopback.ts'
import { none } from '../support/none.ts'
import { send } from '../support/raw-publish.ts'
import { scratch } from '../support/scratch.ts'
import { until } from '../support/until.ts'
import type { Switch } from './changes.ts'
import { judged } from './judged.ts'
import { otherwise, switches } from './switches.ts'

const statements = Object.values(topics).flat()
const ids = statements.map(({ id }) => id)
const version = (await cargoVersion(cargoPath, process.env)) ?? ''
const cleanup = new Cleanup({ after })

const LIMITS = {
  PLIMSOLL_LIMITS_PUBLISH_PER_MINUTE: '100000',
  PLIMSOLL_LIMITS_CHANGES_PER_MINUTE: '100000',
  PLIMSOLL_LIMITS_SEARCHES_PER_MINUTE: '100000',
}

/** A registry with crates of all kinds. */
async function openRegistry(settings: Readonly<Record<string, string>> = {}) {
  const folder = join(scratch(cleanup), 'registry')
  const registry = await startDaemon(cleanup, folder, { ...LIMITS, ...settings })
  const { baseUrl, indexUrl, token } = registry
  const authorization = token
  const base = `registry-index = "${indexUrl}"\npackage = "base"\nversion =`
  const features = Array.from({ length: 150 }, (_, at) => `feature-with-a-long-name-${at} = []\n`)
  const rich = `links = "sea"
rust-version = "1.60"
[dependencies.other]
optional = true
features = ["one"]
${base} "1"
[dev-dependencies.base]
${base} ">=1, <2"
[features]
strong = ["dep:other"]
${features.join('')}`
  for (const [name, version = '1.0.0', toml = ''] of [
    ...['a', 'ab', 'abc', 'MixedCase'].map(name => [name]),
    ...['0.9.0', '1.0.0', '1.1.0+b.2'].map(each => ['base', each, '[features]\none = []\n']),
    ['rich', '2.0.0', rich],
  ]) {
    const { metadata, bytes } = await make(name ?? '', version, toml)
    const body = frame(JSON.stringify(metadata), bytes)
    const answer = await send('PUT', baseUrl, '/api/v1/crates/new', { authorization }, body)
    assert.equal(answer.bytes.includes('errors'), false, String(answer.bytes))
  }
  await send('DELETE', baseUrl, '/api/v1/crates/base/0.9.0/yank', { authorization })
  // A search may find what was published some time later.
  const search = () => send('GET', baseUrl, '/api/v1/crates?q=rich', { authorization })
  await until(
    async () => (await search()).bytes.includes('"name":"rich"'),
    'the search finds nothing',
  )
  return registry
}
type Registry = Awaited<ReturnType<typeof openRegistry>>

const isPrivate = (id: string) => id.startsWith('private-') || id === 'http-guarded'

/** Plays statements about a target; Cargo's with Cargo. */
async function results(
  index: string,
  changes: Partial<Target>,
  token: string | null,
  chosen: readonly string[],
) {
  const client = new Client({})
  const run: CheckRun = {
    target: { ...(await openTarget(index, client)), ...changes },
    client,
    crates: [],
    token,
    prefix: 'check-',
    cargo: chosen.some(id => id.startsWith('cargo-')) ? { path: cargoPath, version } : null,
    env: process.env,
    scratch: scratch(cleanup),
    pauseMs: 1,
    signal: new AbortController().signal,
    published: [],
    doubtful: [],
  }
  const played = statements.filter(({ id }) => chosen.includes(id))
  return play(run, played, () => undefined).finally(() => client.close())
}

/** Plays statements against a registry that is wrong in one way, or in none. */
function against(registry: Registry, chosen: readonly string[], wrong: Switch = () => undefined) {
  registry.interfere(asked => ({ meets: 'change', change: reply => wrong(reply, asked) }))
  const { indexUrl, baseUrl, token } = registry
  const isGit = chosen.every(id => id.startsWith('git-'))
  const far = chosen[0] === 'config-here' ? { name: 'sparse+https://crates.example.com/' } : {}
  const target: Partial<Target> = isGit ? { kind: 'git', name: `${baseUrl}/index.git` } : far
  return results(indexUrl, target, token, chosen)
}

/** What failed, and why. */
function failures(results: readonly Result[]): string[] {
  return results.flatMap(({ id, status, seen }) => (status === 'fail' ? `${id}: ${seen}` : []))
}

// That a right registry passes every statement is played by test/conformance/.
test('every statement fails where the registry is wrong in just that way', async () => {
  assert.deepEqual(Object.keys(switches).sort(), ids.filter(id => id !== 'http-2').sort())
  const left = Object.entries(switches)
  const held: string[] = []
  const work = async () => {
    const registries = [
      await openRegistry(),
      await openRegistry({ PLIMSOLL_AUTH_REQUIRED: 'true' }),
    ]
    for (let next = left.shift(); next; next = left.shift()) {
      const [id, wrong] = next
      const registry = registries[isPrivate(id) ? 1 : 0] as Registry
      const [result] = await against(registry, [id], wrong)
      // What was seen is one line of a table.
      if (result?.status !== 'fail' || result.seen?.includes('\n'))
        held.push(`${id}: ${result?.status} ${result?.seen}`)
    }
  }
  await Promise.all([work(), work()])
  assert.deepEqual(held, [])
})

test('what could not be tried does not hold, and what is right in an odd way does not fail', async () => {
  const open = await openRegistry()
  const closed = await openRegistry({ PLIMSOLL_AUTH_REQUIRED: 'true' })
  const ids: string[] = []
  for (const [id, , odd] of judged) {
    const [result] = await against(isPrivate(id) ? closed : open, [id], odd)
    ids.push(`${id}: ${result?.status}`)
  }
  assert.deepEqual(
    ids,
    judged.map(([id, status]) => `${id}: ${status}`),
  )
})

test('without a token, nothing fails of a private registry', async () => {
  const { indexUrl } = await openRegistry({ PLIMSOLL_AUTH_REQUIRED: 'true' })
  assert.deepEqual(failures(await results(indexUrl, {}, null, ids)), [])
})

test('git gets no token, which is for the registry alone', async () => {
  const registry = await openRegistry()
  registry.requests.clear()
  await against(registry, ['git-smart'])
  const [asked] = registry.requests.all.filter(({ url }) => url.includes('info/refs'))
  assert.equal(asked?.headers.authorization, undefined)
})

test('what is written in another way, or should have been refused, fails nothing else', async () => {
  const { indexUrl, token, interfere } = await openRegistry()
  interfere(asked => ({ meets: 'change', change: reply => otherwise(reply, asked) }))
  const results = await check({
    ...{ target: indexUrl, token, prefix: 'check-', crates: [], cargos: [], statements },
    ...{ env: process.env, pauseMs: 0, signal: new AbortController().signal },
    ...{ onResult: () => undefined, onLeft: () => undefined },
  })
  none(failures(results).filter(failure => !/^(?:refuse|http)-/.test(failure)))
})

for (const [id, status, create, spoken] of [
  ['http-2', 'fail', (tls: SecureContextOptions) => createServer(tls), 'HTTP/1.1'],
  ['config-found', 'untried', (tls: SecureContextOptions) => createSecureServer(tls), 'HTTP/2'],
] as const)
  test(`${id}: ${status} where a server speaks nothing but ${spoken} over TLS`, async () => {
    const { cert, key } = makeCertificate(scratch(cleanup))
    const server = create({ cert: readFileSync(cert), key: readFileSync(key) })
    cleanup.add(() => void server.close())
    const url = (await listen(server)).replace('http:', 'https:')
    const [result] = await results(`sparse+${url}/`, {}, null, [id])
    assert.equal(result?.status, status, result?.seen ?? '')
    if (status === 'untried')
      assert.equal(result?.seen, `${url} speaks nothing but HTTP/2, unlike this check`)
  })

test('crates that were published are looked at in one order, whichever arrived first', async () => {
  const published = [['check-second'], ['check-a'], ['check-b'], ['check-a']]
  const run = { crates: ['foo'], published, doubtful: [['check-b']] }
  const names = await chosen(run as unknown as CheckRun)
  assert.deepEqual(names, ['foo', 'check-a', 'check-second'])
})

test('a registry elsewhere does not have files of this machine read', async () => {
  const client = new Client(process.env)
  for (const named of ['sparse+http://127.0.0.1:9/', 'sparse+https://127.0.0.1:9/index/']) {
    const target = await openTarget(named, client)
    const read = target.download(import.meta.url)
    await assert.rejects(read, /is no address that Cargo could read/)
    await target.close()
  }
  await client.close()
})
