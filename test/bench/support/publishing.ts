import { createHash } from 'node:crypto'
import { Agent, get, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { ownDependency, publishRequest } from '../../support/release.ts'

/** A registry to publish to. */
export interface Address {
  readonly port: number
  /** Path of the API, before `/api/v1`. */
  readonly base?: string
  readonly token: string
}

/** Crates of the same registry, and the URL of its index as Cargo writes it into a `.crate`. */
export interface Dependencies {
  readonly index: string
  readonly names: readonly string[]
}

/** A publish that was answered: when it began, by the wall clock, and how long it took. */
export interface Publish {
  readonly at: number
  readonly took: number
}

/**
 * The body of a publish of a crate of about `size` bytes, which do not compress, and its
 * dependencies.
 */
export function publishBody(
  name: string,
  version: string,
  size: number,
  dependencies: Dependencies = { index: '', names: [] },
): Uint8Array {
  const files = { 'src/lib.rs': '', 'src/data.bin': noise(`${name} ${version}`, size - 500) }
  const { index, names } = dependencies
  const own = names.map(name => ownDependency(name, { index }))
  const manifest = own.map(dep => dep.manifest).join('')
  return publishRequest({ name, version, files, manifest }, { deps: own.map(dep => dep.metadata) })
}

/** New crates and new versions of them: each crate gets three, one after the other. */
export function mixedBodies(from: number, count: number, size: number): Uint8Array[] {
  return Array.from({ length: count }, (_, at) => {
    const number = from + at
    return publishBody(`bench-${Math.floor(number / 3)}`, `1.0.${number % 3}`, size)
  })
}

/** Publishes all bodies by this number of clients, each of which waits for its answer. */
export async function publishAll(
  target: Address,
  bodies: readonly Uint8Array[],
  clients: number,
): Promise<Publish[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: clients })
  const done: Publish[] = []
  let next = 0
  const client = async () => {
    for (let body = bodies[next++]; body; body = bodies[next++]) {
      const begin = performance.now()
      await put(target, agent, body)
      done.push({ at: performance.timeOrigin + begin, took: performance.now() - begin })
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  agent.destroy()
  return done
}

function put({ port, base = '', token }: Address, agent: Agent, body: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: token, 'content-length': body.byteLength }
    const path = `${base}/api/v1/crates/new`
    const sent = request({ port, agent, method: 'PUT', path, headers }, async response => {
      const answer = await text(response)
      if (response.statusCode === 200 && !answer.includes('"errors"')) resolve()
      else reject(new Error(`${response.statusCode} ${answer}`))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

/** Milliseconds of an answer. */
export function ask(port: number, agent: Agent, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const begin = performance.now()
    const asked = get({ port, agent, path }, async response => {
      const answer = await text(response)
      if (response.statusCode !== 200) reject(new Error(`${path}: ${answer}`))
      else resolve(performance.now() - begin)
    })
    asked.on('error', reject)
  })
}

/** Bytes that look random and are the same for the same seed. */
function noise(seed: string, size: number): Uint8Array {
  const bytes = Buffer.alloc(Math.max(size, 0))
  let block = createHash('sha512').update(seed).digest()
  for (let at = 0; at < bytes.length; at += block.length) {
    block.copy(bytes, at)
    block = createHash('sha512').update(block).digest()
  }
  return bytes
}
