// Mirrors daemon/api/trusted.ts: issuers that do not answer
import assert from 'node:assert/strict'
import type { RequestListener, ServerResponse } from 'node:http'
import { test } from 'node:test'
import { MadeUpIssuer } from '../../support/made-up-issuer.ts'
import { TestRegistry } from '../../support/registry.ts'
import { TOKENS } from '../../support/trusted.ts'
import { JOBS } from '../../support/trusted-jobs.ts'

/** Answers without an end, as fast as they are taken. */
function endless(_: unknown, response: ServerResponse): void {
  const more = () => {
    while (response.write(Buffer.alloc(65_536)));
  }
  response.on('drain', more)
  more()
}

const silent: RequestListener = () => undefined
const slow: RequestListener = (_, response) => void response.writeHead(200).write('{')

const BROKEN: readonly RequestListener[] = [
  silent,
  silent,
  slow,
  slow,
  endless,
  (_, response) => void response.end('<html>'),
  (_, response) => void response.writeHead(302, { location: '/' }).end(),
  (_, response) => void response.destroy(),
]

test('eight broken issuers at once leave other requests as they were, and memory, too', async t => {
  const env: Record<string, string> = {}
  const issuers = await Promise.all(
    BROKEN.map(async (answer, at) => {
      const issuer = await MadeUpIssuer.start(t)
      issuer.answer = answer
      Object.assign(env, issuer.settings(`i${at}`, 'github'))
      return issuer
    }),
  )
  const test = await TestRegistry.open(t, { env })
  const token = await test.user('alice')
  const before = process.memoryUsage().rss
  let waiting = 0
  const exchanges = issuers.flatMap(issuer =>
    Array.from({ length: 5 }, async () => {
      const jwt = await issuer.sign(JOBS.github)
      waiting++
      const response = await test.request('POST', TOKENS, null, {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jwt }),
      })
      waiting--
      return [response.status, await response.text()] as const
    }),
  )
  const answers = Promise.all(exchanges)
  for (let version = 0; version < 20; version++) {
    const { status } = await test.publish(token, { name: 'demo', version: `1.0.${version}` })
    assert.equal(status, 200)
    assert.equal((await test.request('GET', '/index/de/mo/demo')).status, 200)
  }
  assert.ok(waiting > 0, 'the silent ones are still waited for')
  assert.ok(process.memoryUsage().rss - before < 100 * 1024 ** 2)
  for (const [status, text] of await answers) {
    assert.equal(status, 500, text)
    assert.match(text, /Failed to load OIDC key set: http/)
  }
  for (const issuer of issuers) assert.ok([...issuer.asked.values()].every(count => count <= 2))
})
