import { isVersion } from '../../core/version.ts'
import { type Answer, objectsIn, textOf } from '../answer.ts'
import { askApi, chosen, expected, lines, missingName, probe, search, settings } from '../probes.ts'
import { BAD_TOKEN, BETTER, book, cargo, DIFFERS, isText, Table, text } from '../table.ts'
import { untried } from '../verdict.ts'

const SEARCH = book('registry-web-api.html#search')
const CLIENT = { source: cargo('crates/crates-io/lib.rs') }

const cratesIn = (answer: Answer) => objectsIn(answer.at('crates'))
const total = (answer: Answer) => objectsIn(answer.at('meta'))[0]?.total

/** Searches for the name of a crate, which its lines spell as it is. */
const named = (query: (name: string) => string) =>
  probe(async run => {
    const name = textOf((await lines(run))[0]?.json.name)
    return { name, answer: await search(run, `?q=${query(name)}&per_page=10`) }
  })
const byName = named(name => name)
const spaced = named(name => `${name}%20${name}`)
const joined = named(name => `${name}%2B${name}`)
const all = probe(async run => {
  const answer = await search(run, '?q=&per_page=100')
  return answer.isDone ? answer : untried('there is no search')
})
const results = probe(async run => {
  const isExpected = expected(run)
  return cratesIn(await all(run)).filter(({ name }) => isExpected(name))
})
const few = probe(run => search(run, '?q=&per_page=1'))
const counts = probe(async run => ({
  total: total(await few(run)),
  found: cratesIn(await all(run)).length,
}))

const loginPage = probe(async run => {
  const { api } = await settings(run)
  return isText(api) ? run.client.ask(`${api}/me`) : untried('the registry has no web API')
})
const owners = probe(async run => {
  const name = (await chosen(run))[0] ?? (await missingName(run))
  return askApi(run, `/${name}/owners`, { token: BAD_TOKEN })
})

const isFound = ({ name, answer }: Awaited<ReturnType<typeof byName>>) =>
  answer.isDone && cratesIn(answer).some(each => each.name === name)

export const searchRows = [
  new Table(SEARCH, 'breaks publishing', 'api')
    .row('search-shape', 'a search is answered 200 with `crates`, a list')
    .that(few, answer => answer.isDone && Array.isArray(answer.at('crates')))
    .row('search-versions', '`max_version` of each result is a version, and never null')
    .each(results, ({ max_version: vers }) => text(isVersion)(vers))
    .row('search-total', '`meta.total` is a whole number', CLIENT)
    .that(few, answer => Number.isInteger(total(answer))),
  new Table(SEARCH, 'differs', 'api')
    .row('search-count', '`meta.total` counts all results, also those that are not shown')
    .that(counts, ({ total, found: count }) => typeof total === 'number' && total >= count)
    .row('search-found', 'a search for the name of a crate finds it')
    .that(byName, isFound)
    .row('search-first', 'the crate whose name was searched for comes first', BETTER)
    .that(byName, ({ name, answer }) => cratesIn(answer)[0]?.name === name)
    .row('search-words', 'several words in one argument are searched for', CLIENT)
    .that(spaced, isFound)
    .row('search-plus', 'words that Cargo joins with `+` are searched for', CLIENT)
    .that(joined, isFound),
  new Table(book('registry-web-api.html'), 'breaks publishing', 'api')
    .row('api-redirect', 'the web API does not redirect: Cargo before 1.97 follows nowhere')
    .that(few, ({ isRedirected }) => !isRedirected)
    .row('api-bad-token', 'a bad token is 401 or 403', DIFFERS)
    .that(owners, ({ status }) => status === 401 || status === 403)
    .row('api-reasons', 'the refusal of a bad token has reasons in `errors`', BETTER)
    .that(owners, ({ errors }) => errors.length > 0)
    .row('api-login', 'there is a page `/me`, which `cargo login` names', DIFFERS)
    .that(loginPage, ({ status }) => status === 200 || status === 401),
]
