import { repeatedKey } from '../../../core/entry/parse.ts'
import { isObject } from '../../../core/plain-data.ts'
import { webUrl } from '../../web/web-url.ts'
import { config, fact, settings } from '../subject.ts'
import { book, cargo, isText, like, maybe, Table, text } from '../table.ts'

const BOOK = book('registry-index.html#index-configuration')
const MARKERS = /\{(?:crate|version|prefix|lowerprefix|sha256-checksum)\}/g

/** Where the index is, and where the addresses of `config.json` lead. */
const places = fact(async subject => {
  const { dl, api } = await settings(subject)
  const index = webUrl(subject.target.name.replace(/^sparse\+/, ''))
  const url = (address: string) => webUrl(address.replaceAll(MARKERS, 'x'))
  return { index, others: [dl, api].filter(isText).flatMap(address => url(address) ?? []) }
})

const isHere = ({ hostname }: URL) => /^(?:localhost|127\..*|\[::1\])$/.test(hostname)

const isTemplate = text(dl => !/[{}]/.test(dl.replaceAll(MARKERS, '')))

const isAddress = text(
  url => webUrl(url.replaceAll(MARKERS, 'x')) !== null || /^file:\/\/\//.test(url),
)

/** `config.json`. */
export const configRows = [
  new Table({ source: BOOK, weight: 'breaks builds' })
    .row('config-found', 'config.json is answered 200')
    .that(config, answer => answer.status === 200)
    .row('config-json', 'config.json is one JSON object')
    .that(config, answer => isObject(answer.json))
    .row('config-dl', '`dl` is a text')
    .setting('dl', like(/./))
    .row('config-dl-url', '`dl` is an absolute address of http, https or file')
    .setting('dl', isAddress)
    .row('config-dl-markers', '`dl` has no markers but the five of Cargo')
    .setting('dl', isTemplate),
  new Table({ source: BOOK, weight: 'breaks publishing' })
    .row('config-api', '`api` is a text, null or absent')
    .setting('api', maybe(isText))
    .row('config-api-url', '`api` is an absolute address')
    .setting('api', maybe(isAddress))
    .row('config-api-slash', '`api` has no slash at its end, because Cargo appends `/api/v1`')
    .setting('api', maybe(like(/[^/]$/))),
  new Table({ source: cargo('src/cargo/sources/registry/http_remote.rs'), weight: 'breaks builds' })
    .row('config-auth', '`auth-required` is true, false or absent')
    .setting('auth-required', value => value === undefined || typeof value === 'boolean')
    .row('config-keys', 'config.json has no key twice')
    .that(config, answer => repeatedKey(answer.text) === null)
    .row('config-bom', 'config.json has no byte order mark')
    .that(config, answer => !answer.text.startsWith('\uFEFF'))
    .row('config-here', 'no address leads to this computer while the index is elsewhere')
    .that(
      places,
      ({ index, others }) => !index || isHere(index) || !others.some(isHere),
      ({ others }) => others,
    ),
  new Table({ source: BOOK, weight: 'could be better' })
    .row('config-secure', 'no address is of http while the index is of https', {
      weight: 'differs',
    })
    .that(
      places,
      ({ index, others }) =>
        index?.protocol !== 'https:' || others.every(url => url.protocol !== 'http:'),
      ({ others }) => others,
    )
    .row('config-small', 'config.json is small, because a publish reads it once a second')
    .that(config, answer => answer.bytes.length <= 4096)
    .row('config-fresh', 'caches keep config.json for at most a day', { needs: ['http'] })
    .that(config, answer => (answer.maxAge ?? 0) <= 86_400),
]
