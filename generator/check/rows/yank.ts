import type { Answer } from '../answer.ts'
import {
  askIndex,
  download,
  type Fact,
  fact,
  type readCrate,
  type Subject,
  search,
} from '../subject.ts'
import { book, cargo, Table } from '../table.ts'
import { indexPath } from '../target.ts'
import { askAs, look, published, settle } from '../trial.ts'
import { untried } from '../verdict.ts'

const YANK = book('registry-web-api.html#yank')
const OWNERS = book('registry-web-api.html#owners')
const CLIENT = cargo('crates/crates-io/lib.rs')

const crate = published('yank', '1.0.0+b')
const owned = published('owned', '1.0.0')
const isYanked = ({ lines }: Awaited<ReturnType<typeof readCrate>>) =>
  lines[0]?.json.yanked === true

/** A yank, a second one, and the way back. */
const yank = fact(async subject => {
  const { made, crate: before } = await crate(subject)
  const path = `/${made.name}/${made.version}`
  const answer = await askAs(subject, 'DELETE', `${path}/yank`)
  const { crate: after } = await settle(subject, made.name, isYanked)
  const headers = { 'if-none-match': before.answer.header('etag') }
  const conditional = await askIndex(subject, indexPath(made.name), { headers })
  const entry = before.lines[0]?.entry ?? untried('the line cannot be read')
  const bytes = await download(subject, entry)
  const twice = await askAs(subject, 'DELETE', `${path}/yank`)
  const undone = await askAs(subject, 'PUT', `${path}/unyank`)
  const { crate: back } = await settle(subject, made.name, found => !isYanked(found))
  return { answer, before, after, conditional, bytes, twice, undone, back }
})

const failing = (method: 'PUT' | 'DELETE', path: string, token?: string) =>
  fact(async subject =>
    askAs(
      subject,
      method,
      `/${(await crate(subject)).made.name}${path}`,
      token === undefined ? {} : { token },
    ),
  )
const noVersion = failing('DELETE', '/9.9.9/yank')
const noCrate = failing('DELETE', '-none/1.0.0/yank')
const noToken = failing('DELETE', '/1.0.0+b/yank', 'plimsoll-check-wrong')

const usersOf = ({ json }: Answer): readonly Readonly<Record<string, unknown>>[] => {
  const { users } = Object(json) as { users?: [] }
  return Array.isArray(users) ? users : []
}

/** Asks about the owners of a crate, and names one of them. */
const owners = (method: 'GET' | 'PUT' | 'DELETE', more = '', who: Fact<string> | null = null) =>
  fact(async subject => {
    const path = `/${(await owned(subject)).made.name}${more}/owners`
    const body = who && { body: Buffer.from(JSON.stringify({ users: [await who(subject)] })) }
    return askAs(subject, method, path, body ?? {})
  })
const list = owners('GET')
const owner = async (subject: Subject) =>
  String(usersOf(await list(subject))[0]?.login ?? untried('nobody is an owner'))
const nobody = async () => 'plimsoll-check-nobody'
const strange = owners('PUT', '', nobody)
const added = owners('PUT', '', owner)
const removed = owners('DELETE', '', owner)
const nowhere = owners('GET', '-none')
const found = fact(async subject => {
  const { name } = (await owned(subject)).made
  const ask = () => search(subject, `?q=${name}&per_page=10`)
  return (await look(subject, ask, ({ text }) => text.includes(`"${name}"`))).value
})

const isSaid = ({ json }: Answer) => {
  const { ok, msg } = Object(json) as Record<string, unknown>
  return ok === true && typeof msg === 'string'
}
const isOk = ({ isDone, json }: Answer) => isDone && (Object(json) as { ok?: unknown }).ok === true
const textOf = ({ lines }: { lines: readonly { text: string }[] }) =>
  lines.map(({ text }) => text).join()

/** Yanks, owners, and what else is there after a publish. */
export const yankRows = [
  new Table({ source: YANK, weight: 'breaks publishing', needs: ['write'] })
    .row('yank-ok', 'a yank is answered `{"ok":true}`, also for a version with `+`')
    .that(yank, ({ answer }) => isOk(answer))
    .row('yank-seen', 'a yank is in the index within a minute')
    .that(yank, ({ after }) => isYanked(after))
    .row('yank-changed', 'after a yank, the ETag of before gets the new file and no 304')
    .that(
      yank,
      ({ conditional, before }) =>
        before.answer.header('etag') === '' || conditional.status === 200,
    )
    .row('yank-download', 'a yanked version can be downloaded', { weight: 'breaks builds' })
    .that(yank, ({ bytes }) => bytes.status === 200)
    .row('yank-twice', 'a second yank is no failure', { weight: 'differs' })
    .that(yank, ({ twice }) => isOk(twice))
    .row('unyank-ok', 'the undoing of a yank is answered `{"ok":true}`')
    .that(yank, ({ undone }) => isOk(undone))
    .row('unyank-seen', 'the undoing of a yank is in the index within a minute')
    .that(yank, ({ back }) => !isYanked(back))
    .row('unyank-same', 'after a yank and its undoing, the line is what it was')
    .that(yank, ({ before, back }) => textOf(before) === textOf(back))
    .row('yank-version', 'a yank of a version that is not there is refused')
    .that(noVersion, answer => !answer.isDone)
    .row('yank-crate', 'a yank of a crate that is not there is refused')
    .that(noCrate, answer => !answer.isDone)
    .row('yank-token', 'a yank with a token that is not valid is 401 or 403')
    .that(noToken, ({ status }) => status === 401 || status === 403),
  new Table({ source: OWNERS, weight: 'breaks publishing', needs: ['write'] })
    .row('owners-list', 'the owners of a crate are answered as `users`, a list')
    .that(list, answer => answer.isDone && usersOf(answer).length > 0)
    .row('owners-ids', '`id` of an owner is a whole number below 2³²', { source: CLIENT })
    .that(list, answer => usersOf(answer).every(({ id }) => Number(id) >>> 0 === id))
    .row('owners-logins', '`login` of an owner is a text')
    .that(list, answer => usersOf(answer).every(({ login }) => typeof login === 'string'))
    .row('owners-unknown', 'an owner whom nobody knows is refused, and named')
    .that(strange, answer => !answer.isDone && /plimsoll-check-nobody/.test(String(answer.errors)))
    .row('owners-added', 'adding an owner is answered with `ok` and `msg`, or refused with reasons')
    .that(added, answer => isSaid(answer) || answer.errors !== null)
    .row('owners-last', 'the last owner of a crate cannot be removed', { weight: 'differs' })
    .that(removed, answer => !answer.isDone)
    .row('owners-nowhere', 'a crate that is not there has no owners')
    .that(nowhere, answer => !answer.isDone)
    .row('search-published', 'a search finds what was published', { weight: 'could be better' })
    .that(found, ({ text }) => text.includes('-owned"')),
]
