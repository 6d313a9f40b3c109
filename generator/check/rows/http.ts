import { request as requestPlain } from 'node:http'
import { isIP } from 'node:net'
import { connect } from 'node:tls'
import type { Answer } from '../answer.ts'
import type { Ask } from '../client.ts'
import { askIndex, crates, fact, readToken } from '../subject.ts'
import { book, cargo, Table } from '../table.ts'
import { indexPath } from '../target.ts'
import { untried } from '../verdict.ts'

const PROTOCOL = book('registry-index.html#sparse-protocol')
const CACHING = book('registry-index.html#caching')
const REMOTE = cargo('src/cargo/sources/registry/http_remote.rs')
const NETWORK = cargo('src/cargo/util/network/http.rs')

/** The longest index file, which shows most. */
const file = fact(async subject => {
  const all = [...(await crates(subject))].sort(
    (a, b) => b.answer.bytes.length - a.answer.bytes.length,
  )
  return all[0] ?? untried('no crate is known')
})
const again = (ask: Ask) =>
  fact(async subject => askIndex(subject, indexPath((await file(subject)).name), ask))

const whole = fact(async subject => (await file(subject)).answer)
const plain = again({ headers: { 'accept-encoding': 'identity' } })
const stranger = again({ headers: { 'user-agent': 'somebody/1.0', accept: '*/*' } })
const stale = again({ headers: { 'if-none-match': '"of another time"' } })

/** The file once more, with the validator that Cargo would send. */
const current = fact(async subject => {
  const answer = await whole(subject)
  const [etag, modified] = [answer.header('etag'), answer.header('last-modified')]
  if (etag === '' && modified === '') untried('the index has no validators')
  const headers: Record<string, string> =
    etag === '' ? { 'if-modified-since': modified } : { 'if-none-match': etag }
  return askIndex(subject, indexPath((await file(subject)).name), { headers })
})

const long = fact(async subject => {
  const answer = await whole(subject)
  return answer.bytes.length < 4096 ? untried('all index files are short') : answer
})
const both = fact(async subject => ({
  encoded: await whole(subject),
  answer: await plain(subject),
}))

/** The protocols that a server offers over TLS. */
const protocol = fact(async ({ target }) => {
  const url = new URL(target.name.replace(/^sparse\+/, ''))
  if (url.protocol !== 'https:') untried('the registry is not served over TLS')
  return new Promise<string>((resolve, reject) => {
    const socket = connect({
      host: url.hostname,
      port: Number(url.port || 443),
      ...(isIP(url.hostname) === 0 && { servername: url.hostname }),
      ALPNProtocols: ['h2', 'http/1.1'],
      // Nothing is sent, and nothing but the protocol is believed.
      rejectUnauthorized: false,
    })
    socket.setTimeout(10_000, () => socket.destroy(new Error('no answer to TLS')))
    socket.on('error', reject)
    socket.on('secureConnect', () => {
      resolve(socket.alpnProtocol || 'none')
      socket.destroy()
    })
  })
})

/** What becomes of a request that offers HTTP/2 without TLS, as each of Cargo's does. */
const upgrade = fact(async subject => {
  const { href, protocol } = new URL('config.json', subject.target.name.replace(/^sparse\+/, ''))
  if (protocol !== 'http:') untried('the registry is served over TLS')
  const token = await readToken(subject)
  return new Promise<string>((resolve, reject) => {
    const outgoing = requestPlain(href, {
      agent: false,
      headers: {
        connection: 'Upgrade, HTTP2-Settings',
        upgrade: 'h2c',
        'http2-settings': 'AAMAAABkAAQAoAAAAAIAAAAA',
        ...(token !== null && { authorization: token }),
      },
    })
    outgoing.setTimeout(10_000, () => outgoing.destroy(new Error('no answer')))
    outgoing.on('response', answer => {
      answer.destroy()
      resolve(String(answer.statusCode))
    })
    outgoing.on('upgrade', (_, socket) => {
      socket.destroy()
      resolve('101')
    })
    outgoing.on('error', error => resolve(error.message))
    outgoing.on('close', () => reject(new Error('the connection was closed')))
    outgoing.end()
  })
})

const header = (name: string, fits: (value: string) => boolean) => (answer: Answer) =>
  fits(answer.header(name))
const isAscii = (text: string) => /^[\x20-\x7e]*$/.test(text)
const isValid = (answer: Answer) => answer.header('etag') + answer.header('last-modified') !== ''
/** Shared caches keep no answer to an authorized request unless it says so (RFC 9111, 3.5). */
const isGuarded = (answer: Answer) =>
  !/public|s-maxage/i.test(answer.header('cache-control')) ||
  /authorization|\*/i.test(answer.header('vary'))
const isVaried = (answer: Answer) =>
  answer.header('content-encoding') === '' || /accept-encoding|\*/i.test(answer.header('vary'))

/** How the index is served over HTTP. */
export const httpRows = [
  new Table({ source: REMOTE, weight: 'breaks builds', needs: ['http'] })
    .row('http-etag-ascii', 'each ETag is of ASCII: Cargo stops at others', { since: '1.96' })
    .that(whole, header('etag', isAscii))
    .row('http-changed', 'a question with another ETag gets the file and no 304')
    .that(stale, ({ status }) => status === 200)
    .row('http-unconditional', 'a question without a condition gets no 304')
    .that(stranger, ({ status }) => status !== 304)
    .row('http-agent', 'nothing depends on `User-Agent`')
    .that(stranger, ({ status }) => status === 200),
  new Table({ source: NETWORK, weight: 'breaks builds', needs: ['http'] })
    .row('http-encodings', 'index files are encoded as gzip or deflate, if at all')
    .that(
      whole,
      header('content-encoding', value => /^(?:gzip|deflate|identity)?$/.test(value)),
    )
    .row('http-unasked', 'nothing is encoded for a client that does not ask for it')
    .that(
      plain,
      header('content-encoding', value => value === ''),
    )
    .row('http-same', 'an encoded file is the same as the plain one')
    .that(both, ({ encoded, answer }) => encoded.bytes.equals(answer.bytes))
    .row('http-h2c', "an offer of HTTP/2 without TLS is passed over, since all of Cargo's make one")
    .that(upgrade, status => status === '200'),
  new Table({ source: CACHING, weight: 'differs', needs: ['http'] })
    .row('http-validator', 'index files have an ETag or Last-Modified; else each update reads all')
    .that(whole, isValid)
    .row('http-304', 'a question with the validator of an unchanged file gets 304')
    .that(current, ({ status }) => status === 304)
    .row('http-vary', 'what is compressed says `Vary: Accept-Encoding`, for caches')
    .that(whole, isVaried)
    .row('http-guarded', 'no shared cache keeps what only some may read', {
      needs: ['http', 'private'],
    })
    .that(whole, isGuarded),
  new Table({ source: PROTOCOL, weight: 'breaks publishing', needs: ['http'] })
    .row('http-fresh', 'caches keep index files for at most a minute: a publish waits for them')
    .that(whole, answer => (answer.maxAge ?? 0) <= 60),
  new Table({ source: PROTOCOL, weight: 'could be better', needs: ['http'] })
    .row('http-age', 'no cache answers with a file that is older than a minute')
    .that(
      whole,
      header('age', value => Number(value || 0) <= 60),
    )
    .row('http-cookies', 'the index sets no cookies, because caches pass such answers by')
    .that(
      whole,
      header('set-cookie', value => value === ''),
    )
    .row('http-gzip', 'index files of some length are compressed')
    .that(
      long,
      header('content-encoding', value => value !== ''),
    )
    .row('http-304-etag', 'a 304 repeats the validator')
    .that(current, answer => answer.status !== 304 || isValid(answer))
    .row('http-type', 'index files are not of type text/html')
    .that(
      whole,
      header('content-type', value => !/html/.test(value)),
    )
    .row('http-2', 'over TLS there is HTTP/2: else Cargo reads two files at a time')
    .that(protocol, name => name === 'h2'),
]
