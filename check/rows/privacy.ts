import { webUrl } from '../../generator/web/web-url.ts'
import {
  api,
  askApi,
  askFile,
  askIndex,
  crates,
  download,
  downloads,
  missingName,
  openConfig,
  probe,
  settings,
} from '../probes.ts'
import { BAD_TOKEN, book, cargo, Table } from '../table.ts'
import { untried } from '../verdict.ts'

const badConfig = probe(run => askIndex(run, 'config.json', { token: BAD_TOKEN }))
const openFile = probe(async run =>
  askFile(run, (await crates(run))[0]?.name ?? '', { token: null }),
)
const openDownload = probe(async run => {
  const [first] = await downloads(run)
  return first ? download(run, first.entry, { token: null }) : untried('no line names a .crate')
})
const openSearch = probe(async run => {
  await api(run)
  return askApi(run, '?q=a&per_page=1')
})
const missing = probe(async run => askFile(run, await missingName(run)))
/** The address in the challenge of Cargo's scheme; empty without one. */
const loginUrl = probe(async run => {
  const challenge = (await openConfig(run)).header('www-authenticate')
  return (
    /(?:^|,)\s*cargo\s+(?:[\w-]+="[^"]*"\s*,\s*)*login_url="([^"]*)"/i.exec(challenge)?.[1] ?? ''
  )
})

const isDenied = ({ status }: { status: number }) => status === 401 || status === 403

export const privacyRows = [
  new Table(cargo('src/cargo/sources/registry/http_remote.rs'), 'breaks builds', 'http', 'private')
    .row('private-auth', '`auth-required` is true: else downloads get no token')
    .that(settings, all => all['auth-required'] === true)
    .row('private-bad-token', 'a bad token for config.json is 401, and not 403 or 404')
    .that(badConfig, ({ status }) => status === 401)
    .row('private-missing', 'a missing crate is 404 with the token')
    .that(missing, ({ status }) => status === 404),
  new Table(book('registry-authentication.html'), 'differs', 'http', 'private')
    .row('private-challenge', 'the 401 says `WWW-Authenticate: Cargo login_url="https://…"`')
    .that(loginUrl, url => webUrl(url) !== null)
    .row('private-index', 'an index file without a token is 401')
    .that(openFile, ({ status }) => status === 401)
    .row('private-download', 'a `.crate` is not given out without a token')
    .that(openDownload, isDenied)
    .row('private-search', 'a search without a token is refused')
    .that(openSearch, isDenied),
  new Table(book('registry-authentication.html'), 'breaks builds', 'http', 'public')
    .row('public-auth', '`auth-required` is not true while everybody gets the index')
    .that(settings, all => all['auth-required'] !== true),
]
