import { isVersion } from '../../../core/version.ts'
import type { Answer } from '../answer.ts'
import { api, askApi, chosen, fact, missingName, search, settings } from '../subject.ts'
import { book, cargo, isText, maybe, Table } from '../table.ts'
import { untried } from '../verdict.ts'

const SEARCH = book('registry-web-api.html#search')
const WEB_API = book('registry-web-api.html')
const CLIENT = cargo('crates/crates-io/lib.rs')

interface Found {
  readonly name?: unknown
  readonly max_version?: unknown
  readonly description?: unknown
}
const found = ({ json }: Answer): readonly Found[] => {
  const { crates } = Object(json) as { crates?: unknown }
  return Array.isArray(crates) ? (crates as Found[]) : []
}
const total = ({ json }: Answer) => (Object(json) as { meta?: { total?: unknown } }).meta?.total
const names = (answer: Answer) => found(answer).map(({ name }) => String(name))

const asked = (query: (name: string) => string) =>
  fact(async subject => {
    await api(subject)
    const isNamed = query('a') !== query('b')
    const name = (await chosen(subject))[0] ?? (isNamed ? untried('no crate is known') : '')
    return { name, answer: await search(subject, query(name)) }
  })

const byName = asked(name => `?q=${name}&per_page=10`)
const all = asked(() => '?q=&per_page=100')
const few = asked(() => '?q=&per_page=1')
const byDefault = asked(() => '?q=')
const strange = asked(name => `?q=${name}&per_page=10&plimsoll=check`)
const upper = asked(name => `?q=${name.toUpperCase()}&per_page=10`)
const spaced = asked(name => `?q=${name}%20${name}&per_page=10`)
const joined = asked(name => `?q=${name}%2B${name}&per_page=10`)
const nothing = fact(async subject => {
  await api(subject)
  // One word: of several, a registry may find some.
  return search(subject, `?q=${(await missingName(subject)).replace(/-.*/, '')}&per_page=10`)
})

const wrongRoute = fact(async subject => search(subject, '/plimsoll-check/none/at/all'))
const loginPage = fact(async subject => {
  const { api } = await settings(subject)
  return isText(api) ? subject.client.ask(`${api}/me`) : untried('the registry has no web API')
})
const owners = fact(async subject => {
  const name = (await chosen(subject))[0] ?? (await missingName(subject))
  return askApi(subject, `/${name}/owners`, { headers: { authorization: 'plimsoll-check-wrong' } })
})

type Asked = Awaited<ReturnType<typeof byName>>
const isDone = ({ answer }: Asked) => answer.isDone
const isFound = ({ name, answer }: Asked) => answer.isDone && names(answer).includes(name)
const has =
  (fits: (found: Found) => boolean) =>
  ({ answer }: Asked) =>
    found(answer).every(fits)
const isCounted = ({ answer }: Asked) =>
  Number(total(answer)) >= found(answer).length &&
  (found(answer).length === 0 || total(answer) !== 1)

/** The search, and what the web API answers to those who may change nothing. */
export const searchRows = [
  new Table({ source: SEARCH, weight: 'breaks publishing' })
    .row('search-shape', 'a search is answered 200 with `crates`, a list')
    .that(few, ({ answer }) => answer.isDone && Array.isArray(Object(answer.json).crates))
    .row('search-names', '`name` of each result is a text')
    .that(
      all,
      has(({ name }) => isText(name)),
    )
    .row('search-versions', '`max_version` of each result is a version, and never null')
    .that(
      all,
      has(({ max_version: vers }) => isText(vers) && isVersion(vers)),
    )
    .row('search-descriptions', '`description` of each result is a text, null or absent')
    .that(
      all,
      has(({ description }) => maybe(isText)(description)),
    )
    .row('search-total', '`meta.total` is a whole number', { source: CLIENT })
    .that(few, ({ answer }) => Number.isInteger(total(answer))),
  new Table({ source: SEARCH, weight: 'differs' })
    .row('search-count', '`meta.total` counts all results, also those that are not shown')
    .that(few, isCounted)
    .row('search-limit', 'a search gives no more than `per_page` results')
    .that(few, ({ answer }) => found(answer).length <= 1)
    .row('search-default', 'a search gives ten results if it says no number')
    .that(byDefault, ({ answer }) => answer.isDone && found(answer).length <= 10)
    .row('search-hundred', 'a search may ask for 100 results')
    .that(all, isDone)
    .row('search-found', 'a search for the name of a crate finds it')
    .that(byName, isFound)
    .row('search-nothing', 'a search for nothing that is there gives an empty list')
    .that(nothing, answer => answer.isDone && found(answer).length === 0)
    .row('search-unknown', 'parameters that nobody knows are passed over', { source: WEB_API })
    .that(strange, isFound)
    .row('search-words', 'several words in one argument are searched for', { source: CLIENT })
    .that(spaced, isFound)
    .row('search-plus', 'words that Cargo joins with `+` are searched for', { source: CLIENT })
    .that(joined, isFound)
    .row('api-login', 'there is a page `/me`, which `cargo login` names', { source: WEB_API })
    .that(loginPage, ({ status }) => status === 200 || status === 401),
  new Table({ source: WEB_API, weight: 'breaks publishing' })
    .row('api-redirect', 'the web API does not redirect: Cargo before 1.97 follows nowhere')
    .that(few, ({ answer }) => answer.hops.length === 0)
    .row('api-bad-token', 'a bad token is 401 or 403')
    .that(owners, ({ status }) => status === 401 || status === 403),
  new Table({ source: WEB_API, weight: 'could be better' })
    .row('search-first', 'the crate whose name was searched for comes first')
    .that(byName, ({ name, answer }) => names(answer)[0] === name)
    .row('search-case', 'a search does not distinguish capitals')
    .that(upper, isFound)
    .row('search-type', 'answers of the web API are of type application/json')
    .that(few, ({ answer }) => /json/.test(answer.header('content-type')))
    .row('api-reasons', 'the refusal of a bad token has reasons in `errors`')
    .that(owners, ({ errors }) => (errors ?? []).length > 0)
    .row('api-route', 'a route that nobody knows is 404 with reasons in `errors`')
    .that(wrongRoute, ({ status, errors }) => status === 404 && (errors ?? []).length > 0),
]
