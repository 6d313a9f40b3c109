import type { Entry } from '../../core/entry/entry.ts'
import { type CargoRun, minor, openCargo } from '../cargo.ts'
import { type CheckRun, lines, missingName, probe } from '../probes.ts'
import { Table } from '../table.ts'
import { has, nameOf, settle } from '../trial.ts'
import { untried } from '../verdict.ts'

const command = (name: string) => `https://doc.rust-lang.org/cargo/commands/cargo-${name}.html`
const HERE = ['--registry', 'check']
/** The first Cargo that waits until the index has what it published. */
const WAITS = 66

/** A crate to depend on: rather one that needs no other registry. */
const needed = probe(async run => {
  const all = (await lines(run)).flatMap(({ entry }) => (entry && !entry.yanked ? entry : []))
  const here = all.find(({ deps }) => deps.every(({ registry }) => registry === null))
  return here ?? all[0] ?? untried('there is no version to depend on')
})
const depending = async (run: CheckRun, { name, vers }: Pick<Entry, 'name' | 'vers'>) => {
  const dependency = `{ version = "=${vers.replace(/\+.*/, '')}", registry = "check" }`
  return openCargo(run, 'plimsoll-check-app', `[dependencies]\n${name} = ${dependency}\n`)
}
const app = probe(async run => {
  const cargo = await depending(run, await needed(run))
  await cargo('generate-lockfile')
  return cargo
})
const failing = async (cargo: CargoRun, ...args: readonly string[]): Promise<string> =>
  cargo(...args).then(
    () => 'it succeeds',
    ({ message }) => message,
  )
const none = probe(async run => {
  const missing = { name: await missingName(run), vers: '1' }
  return failing(await depending(run, missing), 'generate-lockfile')
})
const yanked = probe(async run => {
  const entryYanked = (await lines(run)).find(({ entry }) => entry?.yanked)?.entry
  const cargo = await depending(run, entryYanked ?? untried('no version is yanked'))
  return failing(cargo, 'generate-lockfile')
})
// Each has a folder of its own: some write there.
const alone = (run: CheckRun) => openCargo(run, 'plimsoll-check-alone', '')
const login = async (run: CheckRun) => {
  if (run.token === null) untried('there is no token; give one with --token-stdin')
  return (await alone(run))('login', ...HERE)
}
const asking = (...words: readonly string[]) =>
  probe(async run => {
    const { name } = await needed(run)
    return { name, said: await (await alone(run))(...words, ...HERE, name) }
  })

const crate = probe(async run => {
  const name = `${await nameOf(run, 'cargo')}-${run.cargo?.version.replaceAll('.', '-')}`
  const cargo = await openCargo(run, name, '')
  const said = await cargo('publish', ...HERE, '--allow-dirty').catch(error => {
    run.doubtful.push([name, '1.0.0'])
    throw error
  })
  run.published.push([name, '1.0.0'])
  return { name, cargo, said }
})
const installed = probe(async run => {
  const { name, cargo } = await crate(run)
  if (minor(run.cargo?.version ?? '') < WAITS) await settle(run, name, has('1.0.0'))
  return cargo('install', ...HERE, '--debug', '--root', '../installed', name)
})
const owners = probe(async run => {
  const { name, cargo } = await crate(run)
  return cargo('owner', ...HERE, '--list', name)
})
const yank = probe(async run => {
  const { name, cargo } = await crate(run)
  // Whether it can be installed is another statement.
  await Promise.allSettled([installed(run)])
  const args = ['yank', ...HERE, '--version', '1.0.0', name]
  return [await cargo(...args), await cargo(...args, '--undo')]
})
const refused = probe(async run => {
  const { name, cargo } = await crate(run)
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
    .by(async run => (await app(run))('fetch', '--locked')),
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
