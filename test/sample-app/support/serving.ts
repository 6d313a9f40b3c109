import assert from 'node:assert/strict'
import { after } from 'node:test'
import type { Hono } from 'hono'
import { emptyApp, gallery, single } from '../../../sample-app/app.ts'
import { listen } from '../../../sample-app/examples/apps/serve.ts'
import { examples } from '../../../sample-app/examples.ts'
import { exchange, type WireRequest, type WireResponse } from './exchange.ts'

const origins = new Map<string, Promise<string>>()
const servers: { close(): Promise<unknown> }[] = []

after(() => Promise.all(servers.map(server => server.close())))

/** Serves an example (or the gallery) over a socket, once per test file and until its tests have ended. */
export function serving(name: string): Promise<string> {
  const running = origins.get(name)
  if (running) return running
  const origin = start(name)
  origins.set(name, origin)
  return origin
}

/** Sends a request to an example over a socket. */
export async function ask(name: string, request: string | WireRequest): Promise<WireResponse> {
  return exchange(await serving(name), typeof request === 'string' ? { path: request } : request)
}

/** Sends a request that must be answered with this status and this JSON. */
export async function answers(
  name: string,
  request: string | WireRequest,
  status: number,
  json: unknown,
): Promise<void> {
  const response = await ask(name, request)
  assert.deepEqual({ status: response.status, json: JSON.parse(response.text) }, { status, json })
}

/** Returns `answers` of an example. */
export function answering(name: string) {
  return (request: string | WireRequest, status: number, json: unknown) =>
    answers(name, request, status, json)
}

/** Routes of a test with all around them that examples have. */
export function served(app: Hono) {
  return emptyApp().route('/', app)
}

async function start(name: string): Promise<string> {
  const example = examples.get(name)
  assert.ok(example || name === 'gallery', `there is no example ${name}`)
  const app = example ? single(example) : gallery()
  const server = await listen(app, { host: '127.0.0.1', port: 0 })
  servers.push(server)
  return server.url
}
