import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo, Server as NetServer } from 'node:net'

/** Binds a server to a free loopback port; its base URL, without a slash at the end. */
export async function listen(server: NetServer): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Stops a server and cuts the connections its clients keep open. */
export async function closeServer(server: Server): Promise<void> {
  server.close()
  server.closeAllConnections()
  await once(server, 'close')
}

/** A port that was free a moment ago, for servers that do not say which one they were given. */
export async function freePort(): Promise<number> {
  const server = createServer()
  const url = new URL(await listen(server))
  await closeServer(server)
  return Number(url.port)
}
