import assert from 'node:assert/strict'
import { test } from 'node:test'
import { App } from '../../sample-app/app.ts'
import { dependency, depends } from '../../sample-app/input/dependency.ts'
import type { Inputs } from '../../sample-app/input/input.ts'
import { integer } from '../../sample-app/input/integer.ts'
import { query } from '../../sample-app/input/parameter.ts'
import { text } from '../../sample-app/input/text.ts'
import { refusal } from '../../sample-app/wire/response.ts'

/** Asks an application with these inputs; what its dependencies noted in `log` comes back with the answer. */
async function run(inputs: Inputs, log: string[], path = '/') {
  const app = new App('Probe')
  app.get('/', inputs, () => {
    log.push('handler')
    return null
  })
  const response = await app.hono.request(path)
  return { status: response.status, body: await response.json(), log }
}

test('dependencies run in the order they are declared, those they need before them, all before the handler', async () => {
  const log: string[] = []
  const inner = dependency({}, () => log.push('inner'))
  const outer = dependency({ inner: depends(inner) }, () => log.push('outer'))
  const last = dependency({}, () => log.push('last'))
  const { log: order } = await run(
    { q: query(text, { default: null }), outer: depends(outer), last: depends(last) },
    log,
  )
  assert.deepEqual(order, ['inner', 'outer', 'last', 'handler'])
})

test('a result is shared within a request, also between levels, and not with the next request', async () => {
  let count = 0
  const counted = dependency({}, () => ++count)
  const nested = dependency({ counted: depends(counted) }, ({ counted }) => counted)
  const app = new App('Probe')
  const inputs = { one: depends(counted), two: depends(nested), three: depends(counted) }
  app.get('/', inputs, ({ one, two, three }) => [one, two, three])
  assert.deepEqual(await (await app.hono.request('/')).json(), [1, 1, 1])
  assert.deepEqual(await (await app.hono.request('/')).json(), [2, 2, 2])
})

test('use_cache: false computes anew for its place only', async () => {
  let count = 0
  const counted = dependency({}, () => ++count)
  const app = new App('Probe')
  const inputs = { one: depends(counted), two: depends(counted, { use_cache: false }), three: depends(counted) }
  app.get('/', inputs, ({ one, two, three }) => [one, two, three])
  assert.deepEqual(await (await app.hono.request('/')).json(), [1, 2, 1])
})

test('what depends on an uncached result is itself cached', async () => {
  let count = 0
  const counted = dependency({}, () => ++count)
  const nested = dependency({ counted: depends(counted, { use_cache: false }) }, ({ counted }) => counted)
  const app = new App('Probe')
  app.get('/', { one: depends(nested), two: depends(nested) }, ({ one, two }) => [one, two])
  assert.deepEqual(await (await app.hono.request('/')).json(), [1, 1])
})

test('with an invalid input a dependency is not called, its siblings are, the handler is not', async () => {
  const log: string[] = []
  const invalid = dependency({ a: query(integer) }, () => log.push('invalid'))
  const above = dependency({ invalid: depends(invalid) }, () => log.push('above'))
  const sibling = dependency({}, () => log.push('sibling'))
  const { status, log: order } = await run({ above: depends(above), sibling: depends(sibling) }, log, '/?a=x')
  assert.equal(status, 422)
  assert.deepEqual(order, ['sibling'])
})

test('problems of dependencies come first, in their order, and each once', async () => {
  const shared = dependency({ shared: query(text) }, () => null)
  const one = dependency({ shared: depends(shared), first: query(text) }, () => null)
  const two = dependency({ shared: depends(shared, { use_cache: false }), second: query(text) }, () => null)
  const { body } = await run({ own: query(text), one: depends(one), two: depends(two) }, [])
  const names = (body as { detail: { loc: string[] }[] }).detail.map(({ loc }) => loc[1])
  assert.deepEqual(names, ['shared', 'first', 'second', 'own'])
})

test('an HTTP error of a dependency ends everything, also problems that were found before', async () => {
  const log: string[] = []
  const invalid = dependency({ a: query(integer) }, () => null)
  const refusing = dependency({}, () => {
    throw refusal(418, 'teapot', { 'X-Reason': 'tea' })
  })
  const never = dependency({}, () => log.push('never'))
  const result = await run({ invalid: depends(invalid), refusing: depends(refusing), never: depends(never) }, log)
  assert.deepEqual(result, { status: 418, body: { detail: 'teapot' }, log: [] })
})

test('global dependencies come before the own ones', async () => {
  const log: string[] = []
  const app = new App('Probe', [dependency({}, () => log.push('global'))])
  app.get('/', { own: depends(dependency({}, () => log.push('own'))) }, () => null)
  await app.hono.request('/')
  assert.deepEqual(log, ['global', 'own'])
})
