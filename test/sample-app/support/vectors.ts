import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { WireRequest } from './exchange.ts'
import { MULTIPART, multipart, type Part, URLENCODED, urlencoded } from './forms.ts'

/** One line of behavior: a request to an example, and its required answer. */
export interface Vector {
  readonly id: string
  readonly example: string
  readonly request: {
    readonly method: string
    readonly path: string
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: string
    readonly form?: Readonly<Record<string, string>>
    readonly multipart?: readonly Part[]
  }
  readonly expect: {
    readonly status: number
    readonly json?: unknown
    readonly jsonContains?: unknown
    readonly headers?: Readonly<Record<string, string | { readonly match: string }>>
    readonly textContains?: readonly string[]
    readonly check?: 'pair-1-99-equal' | 'pair-1-99-independent' | 'non-empty-array-of-objects'
  }
}

/** The vectors of the fixture. Compiled tests run from `dist/`, the fixture stays among the sources. */
export function readVectors(): Vector[] {
  const here = dirname(fileURLToPath(import.meta.url))
  const file = join(here, '..', '..', '..', '..', 'test', 'fixtures', 'sample-app-vectors.json')
  const text = readFileSync(file, 'utf8')
    .replaceAll('<EXPECTED_TOKEN>', 'fake-super-secret-token')
    .replaceAll('<EXPECTED_KEY>', 'fake-super-secret-key')
  return JSON.parse(text) as Vector[]
}

/** The request of a vector as it goes on the wire. */
export function wireRequest({
  request: { method, path, headers = {}, body, form, multipart: parts },
}: Vector): WireRequest {
  if (form) return { method, path, headers: { ...URLENCODED, ...headers }, body: urlencoded(form) }
  if (parts) return { method, path, headers: { ...MULTIPART, ...headers }, body: multipart(parts) }
  return { method, path, headers, ...(body !== undefined && { body }) }
}

/** Whether JSON matches a vector; `contains` lets objects have more keys. */
export function matches(actual: unknown, expected: unknown, contains: boolean): boolean {
  if (typeof expected !== 'object' || expected === null) return actual === expected
  if ('$type' in expected) return typeof actual === expected.$type
  if (Array.isArray(expected) || Array.isArray(actual)) {
    if (!Array.isArray(expected) || !Array.isArray(actual) || expected.length !== actual.length)
      return false
    return expected.every((item, index) => matches(actual[index], item, contains))
  }
  if (typeof actual !== 'object' || actual === null) return false
  if (!contains && Object.keys(actual).length !== Object.keys(expected).length) return false
  const members = new Map(Object.entries(actual))
  return Object.entries(expected).every(
    ([key, value]) => members.has(key) && matches(members.get(key), value, contains),
  )
}
