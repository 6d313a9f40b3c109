import { type Answer, objectsIn, textOf } from '../answer.ts'
import { askFile, type CheckRun, type Crate, type Probe, probe } from '../probes.ts'
import { BAD_TOKEN, book, DIFFERS, isText, isU32, Table } from '../table.ts'
import { askWith, published, settle } from '../trial.ts'
import { untried } from '../verdict.ts'

const crate = published('yank', '1.0.0+b')
const owned = published('owned', '1.0.0')
const isYanked = ({ lines }: Crate) => lines[0]?.json.yanked === true

const yank = probe(async run => {
  const { made, crate: before } = await crate(run)
  const path = `/${made.name}/${made.version}`
  const answer = await askWith(run, 'DELETE', `${path}/yank`)
  const after = await settle(run, made.name, lines => isYanked(lines) || !answer.isDone)
  const headers = { 'if-none-match': before.answer.header('etag') || '""' }
  const conditional = await askFile(run, made.name, { headers })
  const twice = await askWith(run, 'DELETE', `${path}/yank`)
  const undone = await askWith(run, 'PUT', `${path}/unyank`)
  const back = await settle(run, made.name, lines => !isYanked(lines) || !undone.isDone)
  return { answer, after, conditional, twice, undone, back }
})
const part = <K extends keyof Awaited<ReturnType<typeof yank>>>(key: K) =>
  probe(async run => (await yank(run))[key])
const afterYank = probe(async run => {
  const { after, conditional } = await yank(run)
  return isYanked(after) ? conditional : untried('no yank is in the index')
})
/** The line before and after a yank, without the keys that a yank changes. */
const kept = probe(async run => {
  await afterYank(run)
  const files = [(await crate(run)).crate, (await yank(run)).after]
  return files.map(({ lines }) => JSON.stringify({ ...lines[0]?.json, yanked: null }))
})
const failing = (version: string, token?: string) =>
  probe(async run => {
    const { name } = (await crate(run)).made
    return askWith(run, 'DELETE', `/${name}/${version}/yank`, undefined, token)
  })
const noVersion = probe(async run => {
  if (!isOk((await yank(run)).answer)) untried('there is no yank')
  return failing('9.9.9')(run)
})
const noToken = failing('1.0.0+b', BAD_TOKEN)

/** Asks about the owners of a crate, and names one of them. */
const owners = (method: 'GET' | 'PUT' | 'DELETE', who?: Probe<string>) =>
  probe(async run => {
    const body = who && Buffer.from(JSON.stringify({ users: [await who(run)] }))
    return askWith(run, method, `/${(await owned(run)).made.name}/owners`, body)
  })
const list = owners('GET')
const users = probe(async run => {
  const all = objectsIn((await list(run)).at('users'))
  return all.length > 0 ? all : untried('nobody is an owner')
})
const owner = async (run: CheckRun) => textOf((await users(run))[0]?.login)
const strange = owners('PUT', async () => 'plimsoll-check-nobody')
const added = owners('PUT', owner)
const removing = owners('DELETE', owner)
/** Last: whose ownership is gone may not ask the others. */
const removed = probe(async run => {
  await Promise.allSettled([strange(run), added(run)])
  return removing(run)
})

const isOk = (answer: Answer) => answer.isDone && answer.at('ok') === true

export const yankRows = [
  new Table(book('registry-web-api.html#yank'), 'breaks publishing', 'write')
    .row('yank-ok', 'a yank is answered `{"ok":true}`, also for a version with `+`')
    .that(part('answer'), isOk)
    .row('yank-seen', 'a yank is in the index within a minute')
    .that(part('after'), isYanked)
    .row('yank-changed', 'after a yank, the ETag of before gets the new file and no 304')
    .that(afterYank, ({ status }) => status === 200)
    .row('yank-kept', 'a yank changes nothing else of the line')
    .that(kept, ([before, after]) => before === after)
    .row('yank-twice', 'a second yank is no failure', DIFFERS)
    .that(part('twice'), isOk)
    .row('unyank-ok', 'the undoing of a yank is answered `{"ok":true}`')
    .that(part('undone'), isOk)
    .row('unyank-seen', 'the undoing of a yank is in the index within a minute')
    .that(part('back'), back => !isYanked(back))
    .row('yank-version', 'a yank of a version that is not there is refused')
    .that(noVersion, ({ isDone }) => !isDone)
    .row('yank-token', 'a yank with a token that is not valid is 401 or 403')
    .that(noToken, ({ status }) => status === 401 || status === 403),
  new Table(book('registry-web-api.html#owners'), 'breaks publishing', 'write')
    .row('owners-list', 'the owners of a crate are answered as `users`, a list with logins')
    .that(list, answer => objectsIn(answer.at('users')).some(({ login }) => isText(login)))
    .row('owners-ids', '`id` of an owner is a whole number below 2³²')
    .each(users, ({ id }) => isU32(id))
    .row('owners-unknown', 'an owner whom nobody knows is refused, and named')
    .that(strange, answer => !answer.isDone && /plimsoll-check-nobody/.test(String(answer.errors)))
    .row('owners-added', 'adding an owner is answered with `ok` and `msg`, or refused with reasons')
    .that(added, answer => (isOk(answer) && isText(answer.at('msg'))) || answer.errors.length > 0)
    .row('owners-last', 'the last owner of a crate cannot be removed', DIFFERS)
    .that(removed, ({ isDone }) => !isDone),
]
