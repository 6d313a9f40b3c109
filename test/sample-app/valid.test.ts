import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Hono } from 'hono'
import { serveStatic } from 'hono/serve-static'
import * as v from 'valibot'
import { integer } from '../../sample-app/examples/validator/path-params-int.ts'
import { incomplete } from '../../sample-app/valid/incomplete.ts'
import { complete, type Schema, valid } from '../../sample-app/valid/valid.ts'

type Problem = { type: string; loc: unknown[]; input: unknown; msg: string }

/** Status, and the kind and place of everything that is wrong. */
async function asked(app: Hono, path: string, init?: RequestInit) {
  const response = await app.request(path, init)
  const text = await response.text()
  const { detail } = text.startsWith('{"detail":[') ? JSON.parse(text) : { detail: [] }
  return [response.status, ...detail.map(({ type, loc }: Problem) => `${type} ${loc.join('.')}`)]
}

const json = (value: unknown, type = 'application/json') => ({
  method: 'POST',
  headers: { 'Content-Type': type },
  body: typeof value === 'string' ? value : JSON.stringify(value),
})
const echo = (schema: Schema) =>
  new Hono().post('/', valid('json', schema), complete, c => c.json(c.req.valid('json')))

const Query = v.object({ n: integer })
const checks = [valid('query', Query), complete] as const

test('nothing is skipped because of how a route was registered', async () => {
  const getContent = async () => 'content'
  const inner = new Hono().get('/x', ...checks, c => c.text('in'))
  const below = new Hono().use('*', ...checks).get('/x', c => c.text('in'))
  const apps: Record<string, Hono> = {
    all: new Hono().all('/x', ...checks, c => c.text('in')),
    on: new Hono().on(['GET', 'PURGE'], ['/x', '/y'], ...checks, c => c.text('in')),
    route: new Hono().route('/', inner),
    basePath: new Hono().basePath('/').route('/', inner),
    mount: new Hono().use(...checks).mount('/', () => new Response('in')),
    mounted: new Hono().mount('/', inner.fetch),
    'use on *': new Hono().use('*', ...checks).get('/x', c => c.text('in')),
    'use on * below': new Hono().route('/', below),
    serveStatic: new Hono().use('/*', ...checks, serveStatic({ getContent })),
    'serveStatic behind use': new Hono().use(...checks).get('/x', serveStatic({ getContent })),
    'one route, two calls': new Hono().get('/x', ...checks).get('/x', c => c.text('in')),
  }
  for (const [name, app] of Object.entries(apps)) {
    assert.deepEqual(await asked(app, '/x?n=x'), [422, 'int_parsing query.n'], name)
    assert.deepEqual(await asked(app, '/x'), [422, 'missing query.n'], name)
    assert.deepEqual(await asked(app, '/x?n=1'), [200], name)
    assert.deepEqual(incomplete(app), [], name)
  }
})

test('all parts are checked, also behind a body that is no JSON', async () => {
  const app = new Hono().post(
    '/:id',
    valid('param', v.object({ id: integer })),
    valid('query', Query),
    valid('header', v.object({ 'X-Key': v.string() })),
    valid('cookie', v.object({ session: v.string() })),
    valid('json', v.object({ a: v.string() })),
    complete,
    c => c.json(null),
  )
  const others = ['int_parsing path.id', 'missing query.n', 'missing header.X-Key']
  const expected = [422, ...others, 'missing cookie.session']
  assert.deepEqual(await asked(app, '/x', json({})), [...expected, 'missing body.a'])
  assert.deepEqual(await asked(app, '/x', json('{')), [...expected, 'json_invalid body.1'])
  assert.deepEqual(await asked(app, '/x', json('')), [...expected, 'missing body'])
})

test('an app without `complete` is told when it is built', () => {
  const app = new Hono().get('/a', ...checks, c => c.text('')).get('/b', valid('query', Query))
  app.post('/a', complete, valid('query', Query), c => c.text(''))
  assert.deepEqual(incomplete(app), ['GET /b', 'POST /a'])
  assert.deepEqual(incomplete(new Hono().route('/x', app)), ['GET /x/b', 'POST /x/a'])
})

test('a route that forgot `complete` gets no values that are wrong', async context => {
  context.mock.method(console, 'error', () => undefined)
  const app = new Hono().get('/', valid('query', Query), c => c.json(c.req.valid('query').n))
  assert.deepEqual(await asked(app, '/?n=x'), [500])
})

test('any schema will do for a body', async () => {
  const strict = echo(v.strictObject({ a: v.number() }))
  assert.deepEqual(await asked(strict, '/', json({ a: 1, b: 2 })), [422, 'extra_forbidden body.b'])
  const list = echo(v.array(v.object({ a: v.number() })))
  assert.deepEqual(await asked(list, '/', json([{ a: 1 }])), [200])
  assert.deepEqual(await asked(list, '/', json([{ a: 1 }, {}])), [422, 'missing body.1.a'])
  assert.deepEqual(await asked(list, '/', json({})), [422, 'list_type body'])
  const text = echo(v.string())
  assert.deepEqual(await asked(text, '/', json('"a"')), [200])
  assert.deepEqual(await asked(text, '/', json('plain', 'text/plain')), [200])
  assert.deepEqual(await asked(text, '/', json([])), [422, 'string_type body'])
  const slow = echo(
    v.objectAsync({
      a: v.pipeAsync(
        v.string(),
        v.checkAsync(async () => false),
      ),
    }),
  )
  assert.deepEqual(await asked(slow, '/', json({ a: 'x' })), [422, 'value_error body.a'])
  const absent = echo(v.nullish(v.object({}), null))
  assert.deepEqual(await asked(absent, '/', json('')), [200])
  const either = echo(v.union([v.object({ a: v.object({ b: v.number() }) }), v.string()]))
  assert.deepEqual(await asked(either, '/', json({ a: { b: 'x' } })), [422, 'float_type body.a.b'])
})

test('lists are no objects, at any depth, and what is shown is the list', async () => {
  const Inner = v.object({ b: v.optional(v.number()) })
  const app = echo(v.looseObject({ a: v.nullish(Inner), list: v.optional(v.array(Inner), []) }))
  const kind = 'model_attributes_type'
  assert.deepEqual(await asked(app, '/', json([])), [422, `${kind} body`])
  assert.deepEqual(await asked(app, '/', json({ a: [1] })), [422, `${kind} body.a`])
  assert.deepEqual(await asked(app, '/', json({ list: [{}, []] })), [422, `${kind} body.list.1`])
  const either = echo(v.object({ a: v.union([Inner, v.string()]) }))
  assert.deepEqual(await asked(either, '/', json({ a: [] })), [422, `${kind} body.a`])
  assert.deepEqual(await asked(echo(v.union([v.array(Inner), Inner])), '/', json([])), [200])
  const record = echo(v.record(v.string(), Inner))
  assert.deepEqual(await asked(record, '/', json([])), [422, `${kind} body`])
  assert.deepEqual(await asked(record, '/', json({ a: [] })), [422, `${kind} body.a`])
  const first = v.pipe(
    v.unknown(),
    v.transform(value => [value].flat()[0]),
    Inner,
  )
  assert.deepEqual(await asked(echo(first), '/', json([{}])), [200])
  const response = await app.request('/', json({ a: [1, 2] }))
  assert.match(await response.text(), /"input":\[1,2\]/)
  assert.deepEqual(await asked(app, '/', json({ a: null, c: [[]] })), [200])
})

test('names that objects have anyway are names like any other', async () => {
  const names = { constructor: v.string(), toString: v.optional(v.string(), 'none') }
  const app = echo(v.object(names))
  assert.deepEqual(await asked(app, '/', json({})), [422, 'missing body.constructor'])
  const body = json('{"constructor":"a","__proto__":{"toString":"b"}}')
  const response = await app.request('/', body)
  assert.deepEqual(await response.json(), { constructor: 'a', toString: 'none' })
  const query = new Hono().get('/', valid('query', v.object(names)), complete, c => c.json(null))
  for (const path of ['/', '/?__proto__=a', '/?__proto__=a&__proto__=b'])
    assert.deepEqual(await asked(query, path), [422, 'missing query.constructor'], path)
  assert.deepEqual(Object.keys(Object.prototype), [])
})

test('words of a schema count, and rules without words keep those of Valibot', async () => {
  const name = v.pipe(v.string(), v.minCodePoints(3, 'Say more'), v.startsWith('a'))
  const app = echo(v.object({ name }))
  const message = async (name: string) =>
    JSON.parse(await (await app.request('/', json({ name }))).text()).detail[0].msg
  assert.equal(await message('ab'), 'Say more')
  assert.match(await message('bcd'), /^Invalid start: Expected "a"/)
  const list = echo(v.picklist(['a', 'b']))
  const response = await list.request('/', json('"x | y | z"'))
  const [{ type, msg }] = JSON.parse(await response.text()).detail
  const words = 'Invalid type: Expected ("a" | "b") but received "x | y | z"'
  assert.deepEqual([type, msg], ['value_error', words])
  const typed = echo(v.pipe(v.string(), v.length(2, 'Say {} | too_odd | count')))
  const told = await (await typed.request('/', json('"x"'))).json()
  const about = { loc: ['body'], input: 'x', ctx: { count: 2 } }
  assert.deepEqual(told, { detail: [{ type: 'too_odd', msg: 'Say 2', ...about }] })
})

test('a body of more than 1 MiB is 413, with a length or without', async () => {
  const app = echo(v.string())
  const long = json(`"${'x'.repeat(1024 * 1024)}"`)
  assert.equal((await app.request('/', long)).status, 413)
  const headers = { ...long.headers, 'Content-Length': String(long.body.length) }
  assert.equal((await app.request('/', { ...long, headers })).status, 413)
})
