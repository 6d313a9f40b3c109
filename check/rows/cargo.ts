import type { Entry } from '../../core/entry/entry.ts'
import { type CargoRun, minor, openCargo } from '../cargo.ts'
import { fact, lines, missingName, type Subject } from '../subject.ts'
import { Table } from '../table.ts'
import { has, nameOf, settle } from '../trial.ts'
import { untried } from '../verdict.ts'

const command = (name: string) => `https://doc.rust-lang.org/cargo/commands/cargo-${name}.html`
const HERE = ['--registry', 'check']
/** The first Cargo that waits until the index has what it published. */
const WAITS = 66

/** A crate to depend on: rather one that needs no other registry. */
const needed = fact(async subject => {
  const all = (await lines(subject)).flatMap(({ entry }) => (entry && !entry.yanked ? entry : []))
  const here = all.find(({ deps }) => deps.every(({ registry }) => registry === null))
  return here ?? all[0] ?? untried('there is no version to depend on')
})
const depending = async (subject: Subject, { name, vers }: Pick<Entry, 'name' | 'vers'>) => {
  const dependency = `{ version = "=${vers.replace(/\+.*/, '')}", registry = "check" }`
  return openCargo(subject, 'plimsoll-check-app', `[dependencies]\n${name} = ${dependency}\n`)
}
const app = fact(async subject => {
  const cargo = await depending(subject, await needed(subject))
  await cargo('generate-lockfile')
  return cargo
})
const failing = async (cargo: CargoRun, ...args: readonly string[]): Promise<string> =>
  cargo(...args).then(
    () => 'it succeeds',
    ({ message }) => message,
  )
const none = fact(async subject => {
  const missing = { name: await missingName(subject), vers: '1' }
  return failing(await depending(subject, missing), 'generate-lockfile')
})
const yanked = fact(async subject => {
  const found = (await lines(subject)).find(({ entry }) => entry?.yanked)?.entry
  const cargo = await depending(subject, found ?? untried('no version is yanked'))
  return failing(cargo, 'generate-lockfile')
})
// Each has a folder of its own: some write there.
const alone = (subject: Subject) => openCargo(subject, 'plimsoll-check-alone', '')
const login = async (subject: Subject) => {
  if (subject.token === null) untried('there is no token; give one with --token-stdin')
  return (await alone(subject))('login', ...HERE)
}
const asking = (...words: readonly string[]) =>
  fact(async subject => {
    const { name } = await needed(subject)
    return { name, said: await (await alone(subject))(...words, ...HERE, name) }
  })

const crate = fact(async subject => {
  const name = `${await nameOf(subject, 'cargo')}-${subject.cargo?.version.replaceAll('.', '-')}`
  const cargo = await openCargo(subject, name, '')
  const said = await cargo('publish', ...HERE, '--allow-dirty').catch(error => {
    subject.doubtful.push([name, '1.0.0'])
    throw error
  })
  subject.published.push([name, '1.0.0'])
  return { name, cargo, said }
})
const installed = fact(async subject => {
  const { name, cargo } = await crate(subject)
  if (minor(subject.cargo?.version ?? '') < WAITS) await settle(subject, name, has('1.0.0'))
  return cargo('install', ...HERE, '--debug', '--root', '../installed', name)
})
const owners = fact(async subject => {
  const { name, cargo } = await crate(subject)
  return cargo('owner', ...HERE, '--list', name)
})
const yank = fact(async subject => {
  const { name, cargo } = await crate(subject)
  // Whether it can be installed is another statement.
  await Promise.allSettled([installed(subject)])
  const args = ['yank', ...HERE, '--version', '1.0.0', name]
  return [await cargo(...args), await cargo(...args, '--undo')]
})
const refused = fact(async subject => {
  const { name, cargo } = await crate(subject)
  return failing(cargo, 'yank', ...HERE, '--version', '9.9.9', name)
})

export const cargoRows = [
  new Table(command('generate-lockfile'), 'breaks builds', 'cargo')
    .row('cargo-resolve', 'Cargo finds a dependency')
    .by(app)
    .row('cargo-missing', 'Cargo says of a missing crate that there is none')
    .that(none, said => /no matching package/.test(said))
    .row('cargo-yanked', 'Cargo chooses no yanked version')
    .that(yanked, said => /no matching package|is yanked|didn't match/.test(said))
    .row('cargo-fetch', 'Cargo downloads a dependency', { source: command('fetch') })
    .by(async subject => (await app(subject))('fetch', '--locked')),
  new Table(command('add'), 'differs', 'cargo')
    .row('cargo-add', 'Cargo adds a crate to the dependencies', { since: '1.62' })
    .by(asking('add')),
  new Table(command('info'), 'differs', 'cargo')
    .row('cargo-info', 'Cargo shows what a crate says of itself', { since: '1.82' })
    .by(asking('info')),
  new Table(command('search'), 'breaks publishing', 'api', 'cargo')
    .row('cargo-search', 'Cargo finds a crate by its name')
    .that(asking('search'), ({ name, said }) => said.includes(`${name} = `))
    .row('cargo-login', 'Cargo logs in with a token', { source: command('login') })
    .by(login),
  new Table(command('publish'), 'breaks publishing', 'api', 'write', 'cargo')
    .row('cargo-publish', 'Cargo publishes a crate and sees it in the index')
    .that(crate, ({ said }) => !/timed out|error/.test(said))
    .row('cargo-install', 'Cargo installs what it has published', { source: command('install') })
    .that(installed, said => said.includes('Installed package'))
    .row('cargo-owner', 'Cargo lists the owners of a crate', { source: command('owner') })
    .by(owners),
  new Table(command('yank'), 'breaks publishing', 'api', 'write', 'cargo')
    .row('cargo-yank', 'Cargo yanks a version and undoes it')
    .by(yank)
    .row('cargo-refusal', 'Cargo shows the reasons of a refusal: a version is not there to yank')
    .that(refused, said => /the remote server responded with an error.*?: \S/.test(said)),
]
