import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addUser } from '../../../generator/accounts/accounts.ts'
import { endSessions } from '../../../generator/accounts/sessions.ts'
import { first } from '../../../generator/database/statement.ts'
import { operatorChange } from '../../../generator/records/change.ts'
import { BASE } from '../../support/release.ts'
import { trusting } from '../../support/trusted.ts'
import { loggedIn } from '../../support/visitor.ts'

const CHANGE = operatorChange('2026-11-20T12:00:00Z')
const CONFIGS = '/api/v1/trusted_publishing/github_configs'
const HERE = { 'sec-fetch-site': 'same-origin', origin: BASE }

test('a logged-in browser manages the rules of its crates, by pages of this registry alone', async t => {
  const { test, alice } = await trusting(t)
  const { database } = test.registry
  await test.publish(alice, { name: 'demo', version: '1.0.0' })
  await addUser(database, { login: 'bob', admin: false }, CHANGE)
  const [owner, stranger] = [await loggedIn(test, 'alice'), await loggedIn(test, 'bob')]
  const order = {
    ...{ crate: 'demo', repository_owner: 'acme', repository_name: 'demo' },
    ...{ workflow_filename: 'release.yml', environment: null },
  }
  const ask = (method: string, path: string, headers: object, body?: object, by = owner) =>
    by.send(path, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    })
  const only = { crate: { trustpub_only: true } }
  const changes = [
    ['POST', CONFIGS, { github_config: order }],
    ['PATCH', '/api/v1/crates/demo', only],
    ['DELETE', `${CONFIGS}/1`, undefined],
  ] as const
  // A neighbouring host is the same site, so it is sent the cookie.
  const foreign = [
    ...['same-site', 'cross-site'].map(site => ({ 'sec-fetch-site': site, origin: BASE })),
    ...['null', 'https://evil.test', `${BASE}.evil.test`].map(origin => ({ origin })),
  ]
  for (const [method, path, body] of changes) {
    for (const headers of foreign) {
      const answer = await ask(method, path, headers, body)
      const what = `${method} from ${JSON.stringify(headers)}`
      assert.equal(answer.status, 403, what)
      assert.match(await answer.text(), /came from another site/, what)
    }
    const strangers = await ask(method, path, HERE, body, stranger)
    assert.ok([400, 404].includes(strangers.status), `${method} of a stranger`)
    // A token that is none is none, whoever is logged in.
    const token = await ask(method, path, { ...HERE, authorization: 'none' }, body)
    assert.equal(token.status, 403)
    const { status } = await ask(method, path, HERE, body)
    assert.equal(status, method === 'DELETE' ? 204 : 200, method)
  }
  const text = await ask('POST', CONFIGS, { ...HERE, 'content-type': 'text/plain' }, {})
  assert.equal(text.status, 415)
  assert.equal((await ask('GET', `${CONFIGS}?crate=demo`, {})).status, 200)
  const sql = "SELECT token_id, detail FROM audit WHERE action = 'trust-add'"
  const event = await first<{ token_id: null; detail: string }>(database, sql)
  assert.equal(event?.token_id, null)
  assert.equal(typeof JSON.parse(event?.detail ?? '').session, 'number')
  // Nothing else that tokens open.
  const yank = await ask('DELETE', '/api/v1/crates/demo/1.0.0/yank', HERE)
  assert.equal(yank.status, 403)
  await endSessions(database, { id: 1, login: 'alice' }, CHANGE)
  assert.equal((await ask('GET', `${CONFIGS}?crate=demo`, {})).status, 403)
})
