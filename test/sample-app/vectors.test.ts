import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WireResponse } from './support/exchange.ts'
import { ask } from './support/serving.ts'
import { matches, readVectors, type Vector, wireRequest } from './support/vectors.ts'

const REPEATS = 20

for (const vector of readVectors()) {
  test(vector.id, async () => {
    const response = await ask(vector.example, wireRequest(vector))
    const { status, json, jsonContains, headers = {}, textContains = [] } = vector.expect
    assert.equal(response.status, status, response.text)
    if (json !== undefined)
      assert.ok(matches(JSON.parse(response.text), json, false), response.text)
    if (jsonContains !== undefined)
      assert.ok(matches(JSON.parse(response.text), jsonContains, true), response.text)
    for (const text of textContains) assert.ok(response.text.includes(text), response.text)
    for (const [name, expected] of Object.entries(headers)) {
      const actual = String(response.headers[name])
      if (typeof expected === 'string') assert.equal(actual, expected)
      else assert.match(actual, new RegExp(expected.match))
    }
    await check(vector, response)
  })
}

async function check(vector: Vector, first: WireResponse): Promise<void> {
  const kind = vector.expect.check
  if (kind === undefined) return
  const bodies: unknown[] = [JSON.parse(first.text)]
  if (kind === 'non-empty-array-of-objects') {
    const [list] = bodies
    assert.ok(
      Array.isArray(list) &&
        list.length > 0 &&
        list.every(item => typeof item === 'object' && item !== null),
    )
    return
  }
  while (bodies.length < REPEATS)
    bodies.push(JSON.parse((await ask(vector.example, wireRequest(vector))).text))
  const pairs = bodies.map(body => (body as { value: [number, number] }).value)
  assert.ok(pairs.flat().every(number => Number.isInteger(number) && number >= 1 && number <= 99))
  assert.ok(pairs.every(pair => pair.length === 2))
  const equal = pairs.filter(([a, b]) => a === b).length
  if (kind === 'pair-1-99-equal') assert.equal(equal, REPEATS)
  else assert.ok(equal < REPEATS)
}
