import { webUrl } from '../../web/web-url.ts'
import {
  api,
  askApi,
  askIndex,
  config,
  crates,
  download,
  downloads,
  fact,
  indexHeaders,
  missingName,
  openConfig,
  settings,
} from '../subject.ts'
import { book, cargo, Table } from '../table.ts'
import { indexPath } from '../target.ts'
import { untried } from '../verdict.ts'

const BOOK = book('registry-authentication.html')
const REMOTE = cargo('src/cargo/sources/registry/http_remote.rs')
const AUTH = cargo('src/cargo/util/auth/mod.rs')

/** A token that nobody has. */
const BAD = 'plimsoll-check-wrong'

const as = (token: string | null, what: 'config' | 'file') =>
  fact(async subject => {
    const path =
      what === 'config' ? 'config.json' : indexPath((await crates(subject))[0]?.name ?? '')
    return subject.target.ask(path, { headers: indexHeaders(token) })
  })
const badConfig = as(BAD, 'config')
const openFile = as(null, 'file')
const badFile = as(BAD, 'file')

const openDownload = fact(async subject => {
  const [first] = await downloads(subject)
  if (!first) untried('no line names a .crate')
  return download(subject, first.entry, null)
})

const openSearch = fact(async subject => {
  await api(subject)
  return askApi(subject, '?q=a&per_page=1')
})

/** The address in the challenge of Cargo's scheme; null without one. */
const loginUrl = fact(async subject => {
  const challenge = (await openConfig(subject)).header('www-authenticate')
  return /(?:^|,)\s*cargo\s+(?:[^,]*\s)?login_url="([^"]*)"/i.exec(challenge)?.[1] ?? null
})

const loginPage = fact(async subject => {
  const url = (await loginUrl(subject)) ?? untried('there is no login_url')
  return subject.client.ask(url)
})

const hiddenMissing = fact(async subject =>
  askIndex(subject, indexPath(await missingName(subject))),
)

/** A registry that shows its index to those with a token alone. */
export const privacyRows = [
  new Table({ source: REMOTE, weight: 'breaks builds', needs: ['http', 'private'] })
    .row('private-config', 'config.json is answered 200 with the token')
    .that(config, ({ status }) => status === 200)
    .row('private-auth', '`auth-required` is true: else downloads get no token')
    .that(
      settings,
      all => all['auth-required'] === true,
      all => `\`auth-required\` is ${all['auth-required']}`,
    )
    .row('private-bad-token', 'a bad token for config.json is 401, and not 403 or 404')
    .that(badConfig, ({ status }) => status === 401)
    .row('private-missing', 'a missing crate is 404 with the token')
    .that(hiddenMissing, ({ status }) => status === 404),
  new Table({ source: BOOK, weight: 'differs', needs: ['http', 'private'] })
    .row('private-challenge', 'the 401 says `WWW-Authenticate: Cargo login_url="…"`')
    .that(
      loginUrl,
      url => url !== null,
      () => 'there is no login_url',
    )
    .row('private-login-url', 'login_url is an absolute address', { source: AUTH })
    .that(loginUrl, url => url === null || webUrl(url) !== null)
    .row('private-login-page', 'login_url is a page')
    .that(loginPage, ({ status }) => status === 200)
    .row('private-index', 'an index file without a token is 401')
    .that(openFile, ({ status }) => status === 401)
    .row('private-index-bad', 'an index file with a bad token is 401')
    .that(badFile, ({ status }) => status === 401)
    .row('private-download', 'a `.crate` is not given out without a token')
    .that(openDownload, ({ status }) => status === 401 || status === 403)
    .row('private-search', 'a search without a token is refused')
    .that(openSearch, ({ status }) => status === 401 || status === 403),
  new Table({ source: BOOK, weight: 'breaks builds', needs: ['http', 'public'] })
    .row('public-auth', '`auth-required` is not true while everybody gets the index')
    .that(
      settings,
      all => all['auth-required'] !== true,
      () => 'it is',
    ),
]
