import { ensure } from '../run.ts'
import { checksum, indexUrl, type Line, parseIndex } from './lines.ts'
import { requestOf } from './wish.ts'

/** An answer that has arrived whole. */
export interface Reply {
  readonly status: number
  readonly bytes: Buffer
}

/** Sends a request; null when the connection broke before the whole answer was there. */
export async function ask(
  request: string | Request,
  init: RequestInit = {},
): Promise<Reply | null> {
  try {
    const answer = await fetch(request, init)
    return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) }
  } catch {
    return null
  }
}

/** Publishes a version as Cargo does. */
export function putVersion(
  url: string,
  token: string,
  name: string,
  version: string,
  bytes?: Uint8Array,
): Promise<Reply | null> {
  return ask(requestOf(url, token, name, { what: 'publish', about: version }, bytes))
}

/** Whether an answer of the web API is a success; Cargo's errors have status 200. */
export function isSuccess(reply: Reply): boolean {
  return reply.status === 200 && !reply.bytes.includes('"errors"')
}

/** Fails unless an answer is a success. */
export function ensureSuccess(what: string, reply: Reply): void {
  ensure(isSuccess(reply), `${what} is answered with ${reply.status}: ${reply.bytes}`)
}

/** The index file of a crate; empty when there is none, null when the connection broke. */
export async function readIndex(url: string, name: string): Promise<Line[] | null> {
  const reply = await ask(indexUrl(url, name))
  return reply && indexLines(name, reply)
}

/** The lines in the answer to a request for an index file; none where there is no such crate. */
export function indexLines(name: string, reply: Reply): Line[] {
  if (reply.status === 404) return []
  ensure(reply.status === 200, `the index of ${name} is answered with ${reply.status}`)
  return parseIndex(name, reply.bytes.toString())
}

/** Fails unless the `.crate` of a line can be downloaded, with its checksum. */
export async function ensureBytes(url: string, { name, vers, cksum }: Line): Promise<void> {
  const reply = await ask(`${url}/crates/${name}/${name}-${vers}.crate`)
  if (reply === null) return
  ensure(reply.status === 200, `${name} ${vers} is in the index, its .crate is ${reply.status}`)
  ensure(checksum(reply.bytes) === cksum, `the .crate of ${name} ${vers} has other bytes`)
}
