import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:http2'
import { Answer } from '../answer.ts'
import { askFile, type CheckRun, crates, probe, readToken } from '../probes.ts'
import { BETTER, book, cargo, DIFFERS, since, Table } from '../table.ts'
import { untried, wrong } from '../verdict.ts'

const REMOTE = 'src/cargo/sources/registry/http_remote.rs'

/** The longest index file, which shows most. */
const file = probe(async run => {
  const size = ({ answer }: { answer: Answer }) => answer.bytes.length
  const all = [...(await crates(run))].sort((a, b) => size(b) - size(a))
  return all[0] ?? untried('no crate is known')
})
const whole = probe(async run => (await file(run)).answer)
const again = (headers: Record<string, string>) =>
  probe(async run => askFile(run, (await file(run)).name, { headers }))
const plain = again({ 'accept-encoding': 'identity' })
const stranger = again({ 'user-agent': 'somebody/1.0', accept: '*/*' })
const stale = again({ 'if-none-match': '"of another time"' })

/** The file once more, with the validator that Cargo would send. */
const current = probe(async run => {
  const [etag, modified = ''] = validators(await whole(run))
  if (!etag && !modified) untried('the index has no validators')
  return again(etag ? { 'if-none-match': etag } : { 'if-modified-since': modified })(run)
})
const long = probe(async run => {
  const answer = await whole(run)
  return answer.bytes.length < 4096 ? untried('all index files are short') : answer
})

/** How long a server may be silent. */
const patience = () => ({ signal: AbortSignal.timeout(10_000) })
const configUrl = ({ target }: CheckRun) =>
  new URL('config.json', target.name.replace(/^sparse\+/, ''))

/** Whether a server speaks HTTP/2 over TLS. */
const second = probe(async run => {
  const { origin, protocol } = configUrl(run)
  if (protocol !== 'https:') untried('the registry is not served over TLS')
  // Nothing is sent, and nothing but the protocol is believed.
  const session = connect(origin, { rejectUnauthorized: false })
  const event = once(session, 'connect', patience()).catch(() => null)
  return event.finally(() => session.destroy())
})

/** The answer to an offer of HTTP/2 without TLS, as each request of Cargo makes it. */
const upgrade = probe(async run => {
  const url = configUrl(run)
  if (url.protocol !== 'http:') untried('the registry is served over TLS')
  const offer = {
    connection: 'Upgrade, HTTP2-Settings',
    upgrade: 'h2c',
    'http2-settings': 'AAMAAABk',
  }
  const token = await readToken(run)
  const headers = { ...offer, ...(token !== null && { authorization: token }) }
  const asked = request(url, { headers, ...patience() }).end()
  const [answer] = await once(asked, 'response').catch(({ message }) => wrong(message))
  answer.destroy()
  if (answer.statusCode === 429) untried('the registry is busy (429)')
  return new Answer(url.href, answer.statusCode)
})

const validators = (answer: Answer) => [answer.header('etag'), answer.header('last-modified')]
const header = (name: string, form: RegExp) => (answer: Answer) => form.test(answer.header(name))
/** Shared caches keep no answer to an authorized request unless it says so (RFC 9111, 3.5). */
const isGuarded = (answer: Answer) =>
  answer.maxAge === 0 ||
  !/public|s-maxage|must-revalidate/i.test(answer.header('cache-control')) ||
  /authorization|\*/i.test(answer.header('vary'))
const isVaried = (answer: Answer) =>
  answer.header('content-encoding') === '' || /accept-encoding|\*/i.test(answer.header('vary'))

/** The refs of a git index, as Cargo's own git asks for them: protocol 0, over HTTP. */
const refs = probe(async ({ client, target }) => {
  if (!/^https?:/.test(target.name)) untried('the repository is not read over HTTP')
  const answer = await client.ask(`${target.name}/info/refs?service=git-upload-pack`)
  return answer.status === 401 ? untried('the repository is private') : answer
})

export const httpRows = [
  new Table(cargo(REMOTE), 'breaks builds', 'http')
    .row('http-etag-ascii', 'each ETag is of ASCII: Cargo stops at others', since('1.96', REMOTE))
    .that(whole, header('etag', /^[\x20-\x7e]*$/))
    .row('http-changed', 'a question with another ETag gets the file and no 304')
    .that(stale, ({ status }) => status === 200)
    .row('http-agent', 'nothing depends on `User-Agent`, which users may set', {
      ...DIFFERS,
      source: book('config.html#httpuser-agent'),
    })
    .that(stranger, ({ status }) => status === 200),
  new Table(cargo('src/cargo/util/network/http.rs'), 'breaks builds', 'http')
    .row('http-encodings', 'index files are encoded as gzip or deflate, if at all')
    .that(whole, header('content-encoding', /^(?:gzip|deflate|identity)?$/i))
    .row('http-unasked', 'nothing is encoded for a client that does not ask for it', DIFFERS)
    .that(plain, header('content-encoding', /^$/))
    .row('http-h2c', "an offer of HTTP/2 without TLS is passed over, since all of Cargo's make one")
    .that(upgrade, ({ status }) => status === 200),
  new Table(book('registry-index.html#caching'), 'differs', 'http')
    .row('http-validator', 'index files have an ETag or Last-Modified; else each update reads all')
    .that(whole, answer => validators(answer).join('') !== '')
    .row('http-304', 'a question with the validator of an unchanged file gets 304')
    .that(current, ({ status }) => status === 304)
    .row('http-vary', 'what is compressed says `Vary: Accept-Encoding`, for caches')
    .that(whole, isVaried),
  new Table(book('registry-index.html#caching'), 'differs', 'http', 'private')
    .row('http-guarded', 'no shared cache keeps what only some may read')
    .that(whole, isGuarded),
  new Table(book('registry-index.html#sparse-protocol'), 'breaks publishing', 'http')
    .row('http-fresh', 'caches keep index files for at most a minute: a publish waits for them')
    .that(whole, ({ maxAge }) => (maxAge ?? 0) <= 60)
    .row('http-gzip', 'index files of some length are compressed', BETTER)
    .that(long, header('content-encoding', /./))
    .row('http-2', 'over TLS there is HTTP/2: else Cargo reads two files at a time', BETTER)
    .that(second, event => event !== null),
]

export const gitRows = [
  new Table(cargo('src/cargo/sources/git/utils.rs'), 'breaks builds', 'git')
    .row('git-smart', 'the repository is served by git, not as files: Cargo cannot read those')
    .that(refs, answer => /git-upload-pack-advertisement/.test(answer.header('content-type')))
    .row('git-head', 'the repository has a HEAD, which Cargo reads whatever its branch is called')
    .that(refs, ({ text }) => /[0-9a-f]{40} HEAD\0/.test(text)),
]
