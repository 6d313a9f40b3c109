import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import type { IncomingHttpHeaders, RequestListener } from 'node:http'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { parseName } from '../../../core/name.ts'
import { parseVersion } from '../../../core/version.ts'
import { WebhookWorker } from '../../../daemon/workers/webhook-worker.ts'
import { all, run } from '../../../generator/database/statement.ts'
import { setYanked } from '../../../generator/records/releases-changes.ts'
import {
  dueDeliveries,
  listDeliveries,
  listWebhooks,
  resend,
} from '../../../generator/webhooks/deliveries.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { TestRegistry } from '../../support/registry.ts'
import { until } from '../../support/until.ts'
import { serveWeb } from '../../support/web-server.ts'
import { folderOf, OPERATOR } from '../../support/workplace.ts'

const SECRETS = [1, 2].map(byte => `whsec_${Buffer.alloc(32, byte).toString('base64')}`)

interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A registry with a webhook `hook`, and what its receiver has got; `answer` comes after that. */
async function hooked(
  t: TestContext,
  answer: RequestListener = (_, response) => void response.end(),
  env: Readonly<Record<string, string>> = {},
) {
  const received: Received[] = []
  const url = await serveWeb(t, async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    received.push({ headers: request.headers, body })
    answer(request, response)
  })
  const secrets = join(folderOf(t), 'secrets')
  writeFileSync(secrets, `${SECRETS[0]}\n`)
  const registry = await TestRegistry.open(t, {
    env: {
      PLIMSOLL_WEBHOOK_HOOK_URL: `${url}/take?key=s3cret`,
      PLIMSOLL_WEBHOOK_HOOK_SECRET_FILE: secrets,
      PLIMSOLL_WEBHOOK_HOOK_PRIVATE: 'true',
      ...env,
    },
  })
  const failures: string[] = []
  const worker = new WebhookWorker(
    registry.registry,
    { PLIMSOLL_TEST_WEBHOOK_SPEED: '100' },
    error => failures.push((error as Error).message),
  )
  new Cleanup(t).add(() => worker.close(1))
  const { database } = registry.registry
  const log = () => listDeliveries(database, 1000)
  return { registry, worker, received, secrets, failures, database, log }
}

const types = (received: readonly Received[]) => received.map(({ body }) => JSON.parse(body).type)
const DEMO = { name: 'demo', version: '1.0.0' }

test('each change is told once its index shows it, and the foreign package verifies it', async t => {
  const { registry, worker, received, secrets, database, log } = await hooked(t)
  // The foreign package compares the time.
  registry.now = new Date()
  const token = await registry.user('ann')
  await registry.user('ben')
  await worker.start()
  await registry.publish(token, DEMO)
  // The index file is shown, but not on disk yet: a power cut could still undo it.
  const due = async () => (await dueDeliveries(database, 'hook', registry.now, 9)).length
  assert.deepEqual([(await log()).length, await due(), received.length], [1, 0, 0])
  await registry.indexWorker.settle()
  await until(() => received.length === 1, 'no event')
  writeFileSync(secrets, `${SECRETS[1]}\n${SECRETS[0]}\n`)
  const change = [registry.registry, parseName('demo'), parseVersion('1.0.0')] as const
  await setYanked(...change, { yanked: true, reason: 'it leaks' }, OPERATOR)
  await setYanked(...change, { reason: 'it leaks memory' }, OPERATOR)
  await setYanked(...change, false, OPERATOR)
  await registry.request('PUT', '/api/v1/crates/demo/owners', token, {
    body: JSON.stringify({ users: ['ben'] }),
  })
  await registry.delete('demo', '1.0.0')
  await registry.indexWorker.catchUp()
  await registry.indexWorker.settle()
  await until(
    () => received.length === 5,
    () => `got ${types(received)}`,
  )
  const [, ...later] = received
  for (const { headers, body } of later)
    for (const secret of SECRETS)
      new Webhook(secret ?? '').verify(body, headers as Record<string, string>)
  assert.throws(() =>
    new Webhook(SECRETS[1] ?? '').verify(received[0]?.body ?? '', received[0]?.headers as never),
  )
  const events = received.map(({ body }) => JSON.parse(body))
  const kinds = events.map(({ type, data }) => [type, data.version ?? data.added, data.actor])
  assert.deepEqual(kinds.sort(), [
    ['crate.owners', 'ben', 'ann'],
    ['release.deleted', '1.0.0', 'command line'],
    ['release.published', '1.0.0', 'ann'],
    ['release.unyanked', '1.0.0', 'command line'],
    ['release.yanked', '1.0.0', 'command line'],
  ])
  const order = events.sort((a, b) => a.data.generation - b.data.generation).map(({ type }) => type)
  const told = 'release.published release.yanked release.unyanked crate.owners release.deleted'
  assert.deepEqual(order, told.split(' '))
  assert.equal(new Set(events.map(({ data }) => data.generation)).size, 5)
})

test('a private registry tells no logins, and nothing that somebody wrote', async t => {
  const env = { PLIMSOLL_AUTH_REQUIRED: 'true' }
  const { registry, worker, received } = await hooked(t, undefined, env)
  await registry.publish(await registry.user('ann'), DEMO)
  await registry.indexWorker.settle()
  await worker.start()
  await until(() => received.length === 1, 'no event')
  const { data, ...rest } = JSON.parse(received[0]?.body ?? '')
  assert.deepEqual(Object.keys(data), ['crate', 'version', 'generation'])
  assert.deepEqual(rest, { type: 'release.published', timestamp: '2026-11-20T12:00:00Z' })
})

test('what is not taken is sent again with the same id; 410 ends the webhook until resent', async t => {
  const answers: [number, Record<string, string>?][] = [
    [500],
    [302, { location: '/elsewhere' }],
    [503, { 'retry-after': '7200' }],
    [410],
  ]
  const { registry, worker, received, failures, database, log } = await hooked(t, (_, response) =>
    response.writeHead(...(answers.shift() ?? [200])).end('a body that nobody keeps'),
  )
  await registry.publish(await registry.user('ann'), DEMO)
  await registry.indexWorker.settle()
  await worker.start()
  const pauses: number[] = []
  for (let sent = 1; sent < 4; sent++) {
    await until(async () => (await log())[0]?.attempts === sent, 'no attempt')
    const { due_at: due } = (await log())[0] ?? {}
    pauses.push(((Date.parse(due ?? '') - registry.now.getTime()) * 100) / 1000)
    registry.now = new Date(due ?? '')
  }
  await until(async () => (await listWebhooks(database))[0]?.ended_at !== null, 'it is not ended')
  assert.equal(received.length, 4)
  assert.equal(new Set(received.map(({ headers }) => headers['webhook-id'])).size, 1)
  const [first = 0, second = 0, third] = pauses
  assert.ok(first >= 5 && first <= 6 && second >= 300 && second <= 360, `pauses ${pauses}`)
  assert.equal(third, 7200)
  assert.equal(failures.length, 4)
  const kept = JSON.stringify([await log(), failures])
  assert.doesNotMatch(kept, /nobody keeps|s3cret|elsewhere/)
  // Nothing is recorded for it until an operator begins again.
  await registry.publish(await registry.user('ben'), { name: 'other', version: '1.0.0' })
  assert.equal((await log()).length, 1)
  assert.equal(await resend(database, 'hook', registry.now), 1)
  await until(() => received.length === 5, 'it was not sent again')
})

test('an answer that comes after a 410 begins nothing again', async t => {
  const late: (() => void)[] = []
  const { registry, worker, database, log } = await hooked(t, (_, response) => {
    if (late.length === 0) return void late.push(() => response.writeHead(500).end())
    response.writeHead(410).end()
  })
  const token = await registry.user('ann')
  await registry.publish(token, DEMO)
  await registry.publish(token, { ...DEMO, version: '2.0.0' })
  await registry.indexWorker.settle()
  await worker.start()
  await until(async () => (await listWebhooks(database))[0]?.ended_at !== null, 'it is not ended')
  for (const answer of late) answer()
  await until(async () => (await log()).every(({ attempts }) => attempts === 1), 'no attempt')
  assert.deepEqual(
    (await log()).map(({ due_at: due }) => due),
    [null, null],
  )
})

test('events of publishes and deletions in one transaction tell them apart', async t => {
  const { registry, database } = await hooked(t)
  const [ann, ben] = [await registry.user('ann'), await registry.user('ben')]
  await registry.publish(ann, DEMO)
  const body = JSON.stringify({ users: ['ben'] })
  await registry.request('PUT', '/api/v1/crates/demo/owners', ann, { body })
  await Promise.all(
    [ann, ben].map((token, at) => registry.publish(token, { ...DEMO, version: `2.${at}.0` })),
  )
  await registry.delete('demo')
  const rows = await listDeliveries(database, 99)
  const told = rows.reverse().map(({ type, data }) => ({ type, ...JSON.parse(data) }))
  const publishers = told.filter(({ version }) => /^2/.test(version)).slice(0, 2)
  assert.deepEqual(Object.fromEntries(publishers.map(each => [each.version, each.actor])), {
    '2.0.0': 'ann',
    '2.1.0': 'ben',
  })
  const audit = await all<{ id: number; about: string }>(
    database,
    "SELECT id, version || ' ' || action AS about FROM audit WHERE version IS NOT NULL",
  )
  const word = { 'release.published': 'publish', 'release.deleted': 'delete' } as const
  const events = told.filter(({ version }) => version !== undefined)
  assert.deepEqual(
    events.map(each => [
      each.generation,
      `${each.version} ${word[each.type as keyof typeof word]}`,
    ]),
    audit.map(({ id, about }) => [id, about]),
  )
})

test('receivers that hang or answer endlessly hold up no other, and cost no memory', async t => {
  const open: (() => void)[] = []
  const { registry, worker, received, log } = await hooked(t, (_, response) => {
    if (received.length % 2 === 0) return
    response.writeHead(200)
    const chunk = Buffer.alloc(1024 ** 2)
    const pour = () => {
      while (!response.destroyed && response.write(chunk));
    }
    response.on('drain', pour)
    open.push(pour)
    pour()
  })
  await registry.publish(await registry.user('ann'), DEMO)
  await registry.indexWorker.settle()
  const before = process.memoryUsage.rss()
  await worker.start()
  await until(async () => (await log())[0]?.due_at === null, 'an endless answer is none')
  assert.equal((await log())[0]?.result, 'HTTP status 200')
  assert.ok(process.memoryUsage.rss() - before < 64 * 1024 ** 2)
  // The next answer never comes: a stop waits for it no longer than it was told to.
  await registry.publish(await registry.user('ben'), { name: 'other', version: '1.0.0' })
  await registry.indexWorker.settle()
  await until(() => received.length === 2, 'no second event')
  await worker.close(0)
  assert.deepEqual([(await log())[0]?.attempts, (await log())[0]?.result], [0, null])
})

test('private addresses are for webhooks that may have them, link-local ones for none', async t => {
  for (const [host, isPrivate, why] of [
    ['127.0.0.1', false, /private .*; `webhook\.hook\.private = true` allows it/],
    ['[::ffff:10.0.0.1]', false, /private .*; `webhook\.hook\.private = true` allows it/],
    ['localhost', false, /private .*; `webhook\.hook\.private = true` allows it/],
    ['169.254.169.254', false, /only hosts that were named may have one$/],
    ['169.254.169.254', true, /link-local, or that of a cloud's metadata$/],
    ['[::ffff:a9fe:a9fe]', true, /link-local, or that of a cloud's metadata$/],
    ['[fe80::1]', true, /link-local, or that of a cloud's metadata$/],
    ['[fd00:ec2::254]', true, /link-local, or that of a cloud's metadata$/],
    ['100.100.100.200', true, /link-local, or that of a cloud's metadata$/],
  ] as const) {
    const { registry, worker, failures } = await hooked(t, undefined, {
      PLIMSOLL_WEBHOOK_HOOK_URL: `http://${host}:9/`,
      PLIMSOLL_WEBHOOK_HOOK_PRIVATE: String(isPrivate),
    })
    await registry.publish(await registry.user('ann'), DEMO)
    await registry.indexWorker.settle()
    await worker.start()
    await until(() => failures.length > 0, `nothing is said of ${host}`)
    assert.match(failures[0] ?? '', why, host)
    await worker.close(1)
  }
})

test('only the asked events are recorded, and none without a webhook', async t => {
  const env = { PLIMSOLL_WEBHOOK_HOOK_EVENTS: 'release.yanked' }
  const { registry, worker, database, log } = await hooked(t, undefined, env)
  await registry.publish(await registry.user('ann'), DEMO)
  assert.deepEqual(await log(), [])
  await run(database, "UPDATE webhooks SET name = 'gone'")
  await setYanked(registry.registry, parseName('demo'), parseVersion('1.0.0'), true, OPERATOR)
  assert.equal((await log()).length, 1)
  // A start forgets webhooks that the settings no longer have.
  await worker.start()
  assert.deepEqual([await listWebhooks(database), await log()], [[], []])
})
