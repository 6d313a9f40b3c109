import { asked, askFile, type Crate, missingName, probe } from '../probes.ts'
import { book, only, since, Table } from '../table.ts'

const REMOTE = 'src/cargo/sources/registry/http_remote.rs'

const isThere = ({ answer, lines }: Crate) =>
  answer.status === 200 && lines.some(({ json }) => json.vers !== undefined)
const withLetters = (count: number) =>
  only(
    asked,
    ({ name }) => /^[^A-Z]+$/.test(name) && Math.min(name.length, 4) === count,
    `no crate has ${count < 4 ? count : 'more'} letters`,
  )
const withCapitals = only(asked, ({ name }) => /[A-Z]/.test(name), 'no crate has capitals')

/** The answers for crates that are not there: Cargo also asks for the name with `-` and with `_`. */
const missing = probe(async run => {
  const name = await missingName(run)
  const names = [name, name.replaceAll('-', '_'), name.replaceAll('_', '-')]
  return Promise.all(names.map(each => askFile(run, each)))
})

/** The same for short names, unless somebody has taken them. */
const missingShort = probe(async run => {
  const all = await Promise.all(['q', 'zq', 'zqj'].map(name => askFile(run, name)))
  return all.filter(answer => answer.status !== 200 || !/^\s*\{/.test(answer.text))
})

export const fileRows = [
  new Table(book('registry-index.html#index-files'), 'breaks builds')
    .row('file-1', 'the file of a crate of one letter is at `1/a`')
    .each(withLetters(1), isThere)
    .row('file-2', 'the file of a crate of two letters is at `2/ab`')
    .each(withLetters(2), isThere)
    .row('file-3', 'the file of a crate of three letters is at `3/a/abc`')
    .each(withLetters(3), isThere)
    .row('file-4', 'the file of a crate of more letters is at `ab/cd/abcd`')
    .each(withLetters(4), isThere)
    .row('file-lower', 'the path of a file is in lower case, also for a crate with capitals')
    .each(withCapitals, isThere),
  new Table(book('registry-index.html#sparse-protocol'), 'breaks builds')
    .row('missing-page', 'a missing crate is no page with 200: Cargo takes it for an empty crate')
    .each(missing, ({ status }) => status !== 200)
    .row('missing-gone', 'a missing crate is not 410 or 451', since('1.96', REMOTE))
    .each(missing, ({ status }) => status !== 410 && status !== 451)
    .row('missing-denied', 'a missing crate is not 401, 403 or another: these end the resolution')
    .each(missing, ({ status }) => [200, 404, 410, 451].includes(status) || status >= 500)
    .row('missing-failed', 'a missing crate is not 500 to 599: Cargo would try again and give up')
    .each(missing, ({ status }) => status < 500)
    .row('missing-short', 'a missing crate of one, two or three letters is 404, too')
    .each(missingShort, ({ status }) => status === 404)
    .row('missing-cached', 'caches keep the answer for a missing crate for at most ten seconds', {
      weight: 'breaks publishing',
    })
    .each(missing, ({ maxAge }) => (maxAge ?? 0) <= 10),
]
