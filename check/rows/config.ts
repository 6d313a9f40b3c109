import { isObject } from '../../core/plain-data.ts'
import { webUrl } from '../../generator/web/web-url.ts'
import { textOf } from '../answer.ts'
import { config, probe, settings } from '../probes.ts'
import { book, cargo, isText, maybe, Table, text } from '../table.ts'

const BOOK = book('registry-index.html#index-configuration')
const MARKERS = /\{(?:crate|version|prefix|lowerprefix|sha256-checksum)\}/g

const url = (value: unknown) => (isText(value) ? webUrl(value.replaceAll(MARKERS, 'x')) : null)
const isAddress = text(value => url(value) !== null || value.startsWith('file:///'))
const isTemplate = text(dl => !/[{}]/.test(dl.replaceAll(MARKERS, '')))
const isHere = ({ hostname }: URL) => /^(?:localhost|127\..*|\[::1\])$/.test(hostname)

/** Where the index is, and where the addresses of `config.json` lead. */
const places = probe(async run => {
  const { dl, api } = await settings(run)
  const index = url(run.target.name.replace(/^sparse\+/, ''))
  return { index, others: [dl, api].flatMap(address => url(address) ?? []) }
})

export const configRows = [
  new Table(BOOK, 'breaks builds')
    .row('config-found', 'config.json is answered 200 with one JSON object')
    .that(config, ({ status, json }) => status === 200 && isObject(json))
    .key('config-dl-url', '`dl` is an absolute address of http, https or file', isAddress, 'dl')
    .key('config-dl-markers', '`dl` has no markers but the five of Cargo', isTemplate, 'dl')
    .row('config-here', 'no address leads to this computer while the index is elsewhere')
    .that(places, ({ index, others }) => !index || isHere(index) || !others.some(isHere)),
  new Table(BOOK, 'breaks publishing')
    .key('config-api-url', '`api` is an absolute address, null or absent', maybe(isAddress), 'api')
    .row('config-api-slash', '`api` has no slash at its end, because Cargo appends `/api/v1`')
    .that(settings, ({ api }) => !textOf(api).endsWith('/')),
  new Table(cargo('src/cargo/sources/registry/http_remote.rs'), 'breaks builds')
    .row('config-auth', '`auth-required` is true, false or absent')
    .that(settings, ({ 'auth-required': auth = false }) => typeof auth === 'boolean'),
]
