import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClient } from 'hono/testing'
import { slashed } from '../slashed.ts'
import app from './body-any.ts'

const client = testClient(slashed(app))

test('body-any: a list of strict objects', async () => {
  const good = await client.items.index.$post({ json: [{ name: 'Foo' }] })
  assert.deepEqual(await good.json(), [{ name: 'Foo', tags: [] }])
  const extra = await client.items.index.$post({ json: [{ name: 'Foo', price: 1 } as never] })
  assert.match(await extra.text(), /"extra_forbidden","loc":\["body",0,"price"\]/)
})

test('body-any: a text', async () => {
  assert.equal((await client.names.index.$post({ json: 'johndoe' })).status, 200)
  assert.match(await (await client.names.index.$post({ json: 'root' })).text(), /is taken/)
})
