import { readFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { TestContext } from 'node:test'
import { Web, type WebOptions } from '../../generator/web/web.ts'
import { makeCertificate } from './certificate.ts'
import { Cleanup } from './cleanup.ts'
import { closeServer, listen } from './loopback.ts'
import { folderOf } from './workplace.ts'

/** A web server that answers as told; its URL, without a slash at the end. */
export async function serveWeb(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer({ keepAliveTimeout: 60_000 }, answer)
  const url = await listen(server)
  new Cleanup(t).add(() => closeServer(server))
  return url
}

/** The same over TLS, with the certificate that proves it. */
export async function serveTls(
  t: TestContext,
  answer: RequestListener,
): Promise<{ readonly url: string; readonly caFile: string }> {
  const { cert, key } = makeCertificate(folderOf(t))
  const server = createTlsServer({ cert: readFileSync(cert), key: readFileSync(key) }, answer)
  const url = (await listen(server)).replace('http:', 'https:')
  new Cleanup(t).add(() => closeServer(server))
  return { url, caFile: cert }
}

/** A client that trusts the given URLs, until the test ends. */
export function newWeb(t: TestContext, trusted: readonly string[], options: WebOptions = {}): Web {
  const web = new Web(options, 'plim_secret')
  for (const url of trusted) web.trust(url)
  new Cleanup(t).add(() => web.close())
  return web
}
