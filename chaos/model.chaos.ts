/**
 * Random histories of publishes, yanks, changes of owners and reads, by several clients of a daemon
 * and by commands beside it, on a few crates that they fight for. For each crate there has to be a
 * sequential order that explains every answer. Tokens that were revoked are refused from then on.
 */
import { join } from 'node:path'
import { buildCrate } from '../test/support/crate-builder.ts'
import { ask, ensureSuccess, isSuccess, putVersion } from './driver/api.ts'
import { DONE, isLinearizable, type Operation, REFUSED, story } from './driver/history.ts'
import { crateBytes } from './driver/truth.ts'
import { requestOf, resultOf, type Wish } from './driver/wish.ts'
import { Folder } from './program.ts'
import type { Random } from './random.ts'
import { chaos, ensure, type Run, Violation } from './run.ts'

const USERS = ['bob', 'carol', 'dave'] as const
const CLIENTS_OF_EACH = 2
const OPERATIONS = 7
const COMMANDS = 2
const CRATES = 2
let serial = 0
const VERSIONS = ['1.0.0', '1.0.1', '2.0.0']

interface Field {
  readonly folder: Folder
  readonly url: string
  readonly tokens: ReadonlyMap<string, string>
  readonly histories: Map<string, Operation[]>
}

await chaos('model', { count: 40, minutes: 20 }, async run => {
  const folder = new Folder(join(run.folder, 'registry'), { env: { PLIMSOLL_GIT_INDEX: 'off' } })
  const [, ...tokens] = await folder.prepare('alice', ...USERS)
  const daemon = folder.serve()
  run.onEnd(() => daemon.kill())
  const url = await daemon.url()
  checkTheChecker()
  let [operations, refused, round] = [0, 0, 0]
  for (; round < run.count && performance.now() < run.deadline; round++) {
    const histories = new Map<string, Operation[]>()
    for (let at = 0; at < CRATES; at++) histories.set(`m-${round}-${at}`, [])
    const logins = new Map(USERS.map((user, at) => [user as string, tokens[at] ?? '']))
    await play({ folder, url, tokens: logins, histories }, run.random)
    for (const [name, history] of histories) {
      operations += history.length
      refused += history.filter(operation => operation.result === REFUSED).length
      ensure(isLinearizable(history), story(name, history))
    }
    if (round % 10 === 9) console.log(`  ${round + 1} rounds, ${operations} operations`)
  }
  await revoke(run, folder, url)
  await folder.verify()
  run.row('rounds', round)
  run.row('operations', `${operations}, ${refused} of them refused`)
  run.row('crates with a sequential order', round * CRATES)
})

/** All clients at once; then everything is read once more. */
async function play(field: Field, random: Random): Promise<void> {
  const clients = USERS.flatMap(user =>
    Array.from({ length: CLIENTS_OF_EACH }, (_, at) =>
      client(field, user, `${user}-${at}`, random.fork()),
    ),
  )
  await Promise.all([...clients, operator(field, random.fork())])
  for (const name of field.histories.keys())
    for (const what of ['owners', 'versions'] as const)
      await record(field, name, { client: 'last', user: 'bob', what, about: '' })
}

async function client(field: Field, user: string, id: string, random: Random): Promise<void> {
  for (let at = 0; at < OPERATIONS; at++) {
    const name = random.pick([...field.histories.keys()])
    const what = random.pick([
      ...(['publish', 'publish', 'publish', 'yank', 'unyank', 'own', 'own'] as const),
      ...(['disown', 'owners', 'versions'] as const),
    ])
    const isAboutUser = what === 'own' || what === 'disown'
    const about = isAboutUser ? random.pick(USERS) : random.pick(VERSIONS)
    await record(field, name, { client: id, user, what, about })
  }
}

/** Yanks with commands, in processes of their own. */
async function operator(field: Field, random: Random): Promise<void> {
  for (let at = 0; at < COMMANDS; at++) {
    const name = random.pick([...field.histories.keys()])
    const what = random.pick(['yank', 'unyank'] as const)
    await record(field, name, { client: 'command', user: null, what, about: random.pick(VERSIONS) })
  }
}

async function record(field: Field, name: string, wish: Wish): Promise<void> {
  const begin = performance.now()
  const result = await perform(field, name, wish)
  field.histories.get(name)?.push({ ...wish, begin, end: performance.now(), result })
}

async function perform(field: Field, name: string, wish: Wish): Promise<string> {
  const { client: id, user, what, about } = wish
  const { url, folder } = field
  if (user === null) {
    const undo = what === 'unyank' ? ['--undo'] : []
    const program = folder.start(['yank', `${name}@${about}`, ...undo])
    const ended = await program.ended
    ensure(ended === 0 || ended === 1, program.story(`ended with ${ended}`))
    return ended === 0 ? DONE : REFUSED
  }
  const token = field.tokens.get(user) ?? ''
  // Everybody has other bytes for the same version.
  const bytes = what === 'publish' ? bytesFor(name, about, id) : new Uint8Array()
  const reply = await ask(requestOf(url, token, name, wish, bytes))
  if (reply === null) throw new Violation('the daemon broke off')
  ensure(reply.status < 500, `answered with ${reply.status}: ${reply.bytes}`)
  return isSuccess(reply) ? resultOf(wish, reply.bytes.toString()) : REFUSED
}

function bytesFor(name: string, version: string, id: string): Uint8Array {
  return buildCrate({ name, version, files: { 'src/lib.rs': `// ${id} ${serial++}\n` } })
}

/** A token is good until the command that revokes it has ended, and never afterwards. */
async function revoke(run: Run, folder: Folder, url: string): Promise<void> {
  for (let at = 0; at < 3; at++) {
    const words = ['token', 'create', '--user', 'bob', '--name', `gone-${at}`]
    const token = (await folder.run(...words)).trim()
    const name = `m-token-${run.seed}-${at}`
    ensureSuccess('a new token', (await putVersion(url, token, name, '1.0.0')) ?? lost())
    const listed = await folder.run('token', 'list')
    const id = new RegExp(`^(\\d+) .*gone-${at}\\b`, 'm').exec(listed)?.[1] ?? ''
    await folder.run('token', 'revoke', id)
    const reply = await putVersion(url, token, name, '1.0.1', crateBytes(name, '1.0.1'))
    ensure(reply && !isSuccess(reply), 'a revoked token is good for a publish')
  }
}

function lost(): never {
  throw new Violation('the daemon broke off')
}

/** A history without an order has to be found. */
function checkTheChecker(): void {
  const base = { client: 'a', user: 'bob', about: '1.0.0' }
  const first = { ...base, what: 'publish', begin: 0, end: 1, result: DONE } as const
  const lostYank = { ...base, what: 'yank', begin: 2, end: 3, result: DONE } as const
  const read = { ...base, what: 'versions', begin: 4, end: 5, result: '1.0.0' } as const
  const early = { ...read, begin: 2.5, end: 5 }
  ensure(!isLinearizable([first, lostYank, read]), 'a lost yank is not found')
  ensure(isLinearizable([first, lostYank, early]), 'a read during a yank is not understood')
}
