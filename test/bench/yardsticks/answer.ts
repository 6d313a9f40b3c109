/**
 * The least work of Node for an answer: one status, its headers and bytes from memory, for any
 * request. `node answer.js SPECIFICATION`, a JSON file of the type `Answer`.
 */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createSecureServer } from 'node:http2'
import type { AddressInfo } from 'node:net'

/** The answer; over HTTP/2 with `tls`. Files are paths. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
  readonly tls: { readonly cert: string; readonly key: string } | null
}

const { status, headers, body, tls } = JSON.parse(
  readFileSync(process.argv[2] ?? '', 'utf8'),
) as Answer
const bytes = body === null ? null : readFileSync(body)
const head = bytes ? { ...headers, 'content-length': bytes.length } : headers
const server = tls ? secure(tls) : plain()
server.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})

function plain() {
  return createServer((_, response) => {
    response.writeHead(status, head)
    if (bytes) response.end(bytes)
    else response.end()
  })
}

function secure({ cert, key }: { readonly cert: string; readonly key: string }) {
  const files = { cert: readFileSync(cert), key: readFileSync(key) }
  const secured = createSecureServer({ ...files, allowHTTP1: false })
  secured.on('stream', stream => {
    // A client that goes away ends its streams; nobody is there to read the error.
    stream.on('error', () => undefined)
    if (stream.destroyed) return
    stream.respond({ ':status': status, ...head }, { endStream: bytes === null })
    if (bytes) stream.end(bytes)
  })
  return secured
}
