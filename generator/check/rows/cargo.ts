import { CargoHome } from '../cargo.ts'
import { fact, lines, missingName } from '../subject.ts'
import { Table } from '../table.ts'
import { nameOf } from '../trial.ts'
import { untried, wrong } from '../verdict.ts'

const command = (name: string) => `https://doc.rust-lang.org/cargo/commands/cargo-${name}.html`

/** A crate to depend on: rather one that needs no other registry. */
const needed = fact(async subject => {
  const all = (await lines(subject)).flatMap(({ entry }) => (entry && !entry.yanked ? entry : []))
  const here = all.filter(({ deps }) => deps.every(({ registry }) => registry === null))
  const { name, vers } = here[0] ?? all[0] ?? untried('there is no version to depend on')
  return { name, req: `=${vers.replace(/\+.*/, '')}` }
})
const app = fact(async subject => {
  const { name, req } = await needed(subject)
  const toml = `[dependencies]\n${name} = { version = "${req}", registry = "check" }\n`
  const cargo = await CargoHome.make(subject, 'plimsoll-check-app', toml)
  await cargo.run('generate-lockfile')
  return cargo
})
const alone = fact(async subject => CargoHome.make(subject, 'plimsoll-check-alone', ''))
const NEW = ['publish', '--registry', 'check', '--allow-dirty', '--no-verify']

/** A crate that this Cargo has published. */
const crate = fact(async subject => {
  const name = `${await nameOf(subject, 'cargo')}-${subject.cargo?.version.replaceAll('.', '-')}`
  const cargo = await CargoHome.make(subject, name, '')
  const said = await cargo.run(...NEW)
  subject.published.push([name, '1.0.0'])
  return { name, cargo, said }
})

const saying = async (cargo: CargoHome, text: string, ...args: readonly string[]) => {
  const said = await cargo.run(...args)
  if (!said.includes(text)) wrong(`cargo ${args[0]} says ${said}`)
}

const installed = fact(async subject => {
  const { name, cargo } = await crate(subject)
  const args = ['--registry', 'check', '--debug', '--root', '../installed', name]
  await saying(cargo, 'Installed package', 'install', ...args)
})

/** What Cargo itself makes of the registry. */
export const cargoRows = [
  new Table({ source: command('fetch'), weight: 'breaks builds', needs: ['cargo'] })
    .row('cargo-resolve', 'Cargo finds a dependency', { source: command('generate-lockfile') })
    .by(app)
    .row('cargo-fetch', 'Cargo downloads a dependency')
    .by(async subject => (await app(subject)).run('fetch', '--locked'))
    .row('cargo-update', 'Cargo updates a dependency', { source: command('update') })
    .by(async subject => (await app(subject)).run('update'))
    .row('cargo-missing', 'Cargo says of a missing crate that there is none', {
      source: command('add'),
    })
    .by(async subject => {
      const name = await missingName(subject)
      const cargo = await CargoHome.make(
        subject,
        'plimsoll-check-none',
        `[dependencies]\n${name} = { version = "1", registry = "check" }\n`,
      )
      const { said } = await cargo.end(['generate-lockfile'])
      if (!/no matching package/.test(said)) wrong(said)
    })
    .row('cargo-info', 'Cargo shows a crate', { source: command('info'), since: '1.82' })
    .by(async subject => {
      const { name } = await needed(subject)
      await saying(await alone(subject), `${name}`, 'info', '--registry', 'check', name)
    }),
  new Table({ source: command('search'), weight: 'breaks publishing', needs: ['api', 'cargo'] })
    .row('cargo-search', 'Cargo finds a crate by its name')
    .by(async subject => {
      const { name } = await needed(subject)
      await saying(await alone(subject), `${name} = `, 'search', '--registry', 'check', name)
    })
    .row('cargo-login', 'Cargo logs in with a token', { source: command('login') })
    .by(async subject => (await alone(subject)).run('login', '--registry', 'check')),
  new Table({ source: command('publish'), weight: 'breaks publishing', needs: ['write', 'cargo'] })
    .row('cargo-publish', 'Cargo publishes a crate and sees it in the index')
    .by(async subject => {
      const { said } = await crate(subject)
      if (/timed out|error/.test(said)) wrong(said)
    })
    .row('cargo-install', 'Cargo installs what it has published', { source: command('install') })
    .by(installed)
    .row('cargo-owner', 'Cargo lists the owners of a crate', { source: command('owner') })
    .by(async subject => {
      const { name, cargo } = await crate(subject)
      await cargo.run('owner', '--registry', 'check', '--list', name)
    })
    .row('cargo-yank', 'Cargo yanks a version and undoes it', { source: command('yank') })
    .by(async subject => {
      const { name, cargo } = await crate(subject)
      // Whether it can be installed is another statement.
      await Promise.allSettled([installed(subject)])
      const args = ['yank', '--registry', 'check', '--version', '1.0.0', name]
      await cargo.run(...args)
      await cargo.run(...args, '--undo')
    }),
]
