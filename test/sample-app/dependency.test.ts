import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import * as v from 'valibot'
import { ask, type Dependency, dependency, uncached } from '../../sample-app/ask/ask.ts'
import { integer } from '../../sample-app/examples/path/path-params-int.ts'
import { served } from './support/serving.ts'

type Needs = Readonly<Record<string, Dependency<unknown>>>

/** Asks a route with these needs; what they noted in `log` comes back with the answer. */
async function run(needs: Needs, log: string[], path = '/', query: v.ObjectEntries = {}) {
  const app = new Hono()
  app.get('/', ask({ needs, query } as object), c => {
    log.push('handler')
    return c.json(null)
  })
  const response = await served(app).request(path)
  return { status: response.status, body: await response.json(), log }
}

/** The numbers that a route with these needs answers, from its first two requests. */
async function numbers(needs: Needs): Promise<unknown[]> {
  const app = new Hono()
  app.get('/', ask({ needs }), c => c.json(Object.keys(needs).map(name => c.var[name])))
  const probe = served(app)
  return [await (await probe.request('/')).json(), await (await probe.request('/')).json()]
}

test('dependencies run in their order, those they need before them, all before the handler', async () => {
  const log: string[] = []
  const inner = dependency({}, () => log.push('inner'))
  const outer = dependency({ needs: { inner } }, () => log.push('outer'))
  const last = dependency({}, () => log.push('last'))
  const { log: order } = await run({ outer, last }, log, '/', { q: v.optional(v.string()) })
  assert.deepEqual(order, ['inner', 'outer', 'last', 'handler'])
})

test('a result is shared within a request, also between levels, and not with the next', async () => {
  let count = 0
  const counted = dependency({}, () => ++count)
  const nested = dependency({ needs: { counted } }, values => values.counted)
  const found = await numbers({ one: counted, two: nested, three: counted })
  assert.deepEqual(found, [
    [1, 1, 1],
    [2, 2, 2],
  ])
})

test('use_cache: false computes anew for its place only', async () => {
  let count = 0
  const counted = dependency({}, () => ++count)
  const [first] = await numbers({ one: counted, two: uncached(counted), three: counted })
  assert.deepEqual(first, [1, 2, 1])
})

test('what depends on an uncached result is itself cached', async () => {
  let count = 0
  const counted = dependency({}, () => ++count)
  const nested = dependency({ needs: { counted: uncached(counted) } }, values => values.counted)
  assert.deepEqual((await numbers({ one: nested, two: nested }))[0], [1, 1])
})

test('with an invalid input a dependency is not called, its siblings are, the handler is not', async () => {
  const log: string[] = []
  const invalid = dependency({ query: { a: integer } }, () => log.push('invalid'))
  const above = dependency({ needs: { invalid } }, () => log.push('above'))
  const sibling = dependency({}, () => log.push('sibling'))
  const { status, log: order } = await run({ above, sibling }, log, '/?a=x')
  assert.equal(status, 422)
  assert.deepEqual(order, ['sibling'])
})

function namesOf(body: unknown): unknown[] {
  return (body as { detail: { loc: string[] }[] }).detail.map(({ loc }) => loc[1])
}

test('problems of dependencies come first, in their order, and each once', async () => {
  const shared = dependency({ query: { shared: v.string() } }, () => null)
  const one = dependency({ needs: { shared }, query: { first: v.string() } }, () => null)
  const needs = { shared: uncached(shared) }
  const two = dependency({ needs, query: { second: v.string() } }, () => null)
  const { body } = await run({ one, two }, [], '/', { own: v.string() })
  assert.deepEqual(namesOf(body), ['shared', 'first', 'second', 'own'])
})

test('an HTTP error of a dependency ends everything, also problems that were found before', async () => {
  const log: string[] = []
  const invalid = dependency({ query: { a: integer } }, () => null)
  const refusing = dependency({}, () => {
    throw new HTTPException(418, { message: 'teapot' })
  })
  const never = dependency({}, () => log.push('never'))
  const result = await run({ invalid, refusing, never }, log)
  assert.deepEqual(result, { status: 418, body: { detail: 'teapot' }, log: [] })
})

test('dependencies of a whole app come before the own ones, and share results with them', async () => {
  const log: string[] = []
  const shared = dependency({}, () => log.push('shared'))
  const own = dependency({ needs: { shared } }, () => log.push('own'))
  const app = new Hono()
  app.use(ask({ needs: { shared } }))
  app.get('/', ask({ needs: { own } }), c => c.json(null))
  await served(app).request('/')
  assert.deepEqual(log, ['shared', 'own'])
})

test('what a whole app asks for is refused before a route asks', async () => {
  const app = new Hono()
  app.use(ask({ query: { all: v.string() } }))
  app.get('/:id', ask({ path: { id: integer }, query: { own: v.string() } }), c => c.json(null))
  const requests = ['/x', '/x?all=1'].map(async path => (await served(app).request(path)).json())
  assert.deepEqual((await Promise.all(requests)).map(namesOf), [['all'], ['id', 'own']])
})

test('status and headers that are set on the context count, in an error too', async () => {
  const app = new Hono()
  app.get('/', ask({ query: { q: v.optional(v.string()) } }), c => {
    c.status(201)
    c.header('X-Kind', 'tea')
    if (c.var.query.q) throw new HTTPException(418, { message: 'teapot' })
    return c.json(null)
  })
  for (const [path, status] of [['/', 201] as const, ['/?q=1', 418] as const]) {
    const response = await served(app).request(path)
    assert.deepEqual([response.status, response.headers.get('x-kind')], [status, 'tea'])
  }
})
