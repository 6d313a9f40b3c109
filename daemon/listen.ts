import type { AddressInfo } from 'node:net'
import { type ServerType, serve } from '@hono/node-server'
import { issue, Refusal } from '../generator/index.ts'

type Fetch = Parameters<typeof serve>[0]['fetch']

/** A server that accepts connections. */
export interface Listening {
  /** `http://host:port` with the port really taken. */
  readonly url: string
  /** Starts answering with an app; requests that came before wait for it. */
  answer(fetch: Fetch): void
  /** Takes no more connections; resolves when running requests are answered, at the latest after `seconds`. */
  stop(seconds: number): Promise<void>
}

/**
 * Takes an address (port 0: a free one), before there is anything to answer with: the base URL may
 * depend on the port. Refuses an address that cannot be had. Never listens for upgrades: Cargo offers h2c on every
 * plain request and an `upgrade` listener would swallow it.
 */
export async function listen(host: string, port: number): Promise<Listening> {
  let ready: (fetch: Fetch) => void = () => undefined
  const app = new Promise<Fetch>(resolve => {
    ready = resolve
  })
  const fetch: Fetch = async (request, env) => (await app)(request, env)
  const server = await new Promise<ServerType>((resolve, reject) => {
    const starting = serve({ fetch, hostname: host, port }, () => resolve(starting))
    starting.once('error', error => {
      reject(
        new Refusal([issue('address_taken', { address: `${host}:${port}`, reason: error.message })], { cause: error }),
      )
    })
  })
  const taken = server.address() as AddressInfo
  const shown = taken.family === 'IPv6' ? `[${taken.address}]` : taken.address
  return { url: `http://${shown}:${taken.port}`, answer: ready, stop: seconds => stop(server, seconds) }
}

async function stop(server: ServerType, seconds: number): Promise<void> {
  const closed = new Promise<void>(resolve => server.close(() => resolve()))
  if ('closeIdleConnections' in server) server.closeIdleConnections()
  const patience = setTimeout(() => {
    if ('closeAllConnections' in server) server.closeAllConnections()
  }, seconds * 1000)
  await closed
  clearTimeout(patience)
}
