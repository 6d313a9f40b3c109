/**
 * Random histories of publishes, yanks, changes of owners and reads, by several clients of a daemon
 * and by commands beside it, on a few crates that they fight for. For each crate there has to be a
 * sequential order that explains every answer. Tokens that were revoked are refused from then on.
 */
import { join } from 'node:path'
import { ask, ensureSuccess, isSuccess, putVersion, type Reply } from './driver/api.ts'
import { Driver, type Place } from './driver/driver.ts'
import { checkTheChecker, DONE, isLinearizable, REFUSED, story } from './driver/history.ts'
import { Subject } from './driver/journal.ts'
import { Folder } from './program.ts'
import type { Random } from './random.ts'
import { chaos, ensure, type Run, Violation } from './run.ts'

const USERS = ['bob', 'carol', 'dave'] as const
const CLIENTS_OF_EACH = 2
const OPERATIONS = 7
const COMMANDS = 2
const CRATES = 2
const VERSIONS = ['1.0.0', '1.0.1', '2.0.0']
const WISHES = [
  ...(['publish', 'publish', 'publish', 'yank', 'unyank', 'own', 'own'] as const),
  ...(['disown', 'owners', 'versions'] as const),
]

/** Clients of one daemon that nothing breaks, and an operator beside it. */
class Clients extends Driver<Place> {
  readonly #folder: Folder

  constructor(folder: Folder, tokens: ReadonlyMap<string, string>) {
    super(tokens)
    this.#folder = folder
  }

  /** Has all of them work at once; then everything is read once more. */
  async play(place: Place, crates: readonly Subject[], random: Random): Promise<void> {
    const work = USERS.flatMap(user =>
      Array.from({ length: CLIENTS_OF_EACH }, (_, at) =>
        this.#client(place, crates, `${user}-${at}`, random.fork()),
      ),
    )
    await Promise.all([...work, this.#operator(crates, random.fork())])
    for (const subject of crates)
      for (const what of ['owners', 'versions'] as const)
        await this.record(place, subject, { client: 'last', user: 'bob', what, about: '' })
  }

  async #client(place: Place, crates: readonly Subject[], client: string, random: Random) {
    const [user = ''] = client.split('-')
    for (let at = 0; at < OPERATIONS; at++) {
      const what = random.pick(WISHES)
      const about = random.pick<string>(/own$/.test(what) ? USERS : VERSIONS)
      await this.record(place, random.pick(crates), { client, user, what, about })
    }
  }

  /** Yanks with commands, in processes of their own. */
  async #operator(crates: readonly Subject[], random: Random): Promise<void> {
    for (let at = 0; at < COMMANDS; at++) {
      const subject = random.pick(crates)
      const [what, about] = [random.pick(['yank', 'unyank'] as const), random.pick(VERSIONS)]
      const begin = this.moment()
      const undo = what === 'unyank' ? ['--undo'] : []
      const program = this.#folder.start(['yank', `${subject.name}@${about}`, ...undo])
      const ended = await program.ended
      ensure(ended === 0 || ended === 1, program.story(`ended with ${ended}`))
      const wish = { client: 'command', user: null, what, about }
      this.recordResult(subject, wish, begin, ended === 0 ? DONE : REFUSED)
    }
  }

  protected override async ask(_: Place, request: Request): Promise<Reply> {
    return (await ask(request)) ?? lost()
  }
}

await chaos('model', { count: 40, minutes: 20 }, async run => {
  const folder = new Folder(join(run.folder, 'registry'), { env: { PLIMSOLL_GIT_INDEX: 'off' } })
  const [, ...tokens] = await folder.prepare('alice', ...USERS)
  const daemon = folder.serve()
  run.onEnd(() => daemon.kill())
  const place = { name: 'the daemon', url: await daemon.url() }
  const clients = new Clients(folder, new Map(USERS.map((user, at) => [user, tokens[at] ?? ''])))
  checkTheChecker()
  let round = 0
  for (; round < run.count && performance.now() < run.deadline; round++) {
    const crates = Array.from({ length: CRATES }, (_, at) => new Subject(`m-${round}-${at}`))
    await clients.play(place, crates, run.random)
    for (const { name, history } of crates) ensure(isLinearizable(history), story(name, history))
    if (round % 10 === 9) console.log(`  ${round + 1} rounds, ${clients.operations} operations`)
  }
  await revoke(run, folder, place.url)
  await folder.verify()
  run.row('rounds', round)
  run.row('operations', `${clients.operations}, ${clients.refused} of them refused`)
  run.row('crates with a sequential order', round * CRATES)
})

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
    const reply = await putVersion(url, token, name, '1.0.1')
    ensure(reply && !isSuccess(reply), 'a revoked token is good for a publish')
  }
}

function lost(): never {
  throw new Violation('the daemon broke off')
}
