import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Cargo } from '../support/cargo.ts'
import type { LoggedRequest } from '../support/request-log.ts'
import type { Scenario, ScenarioOptions } from './scenario.ts'
import { says, saysNot, scenario } from './scenario.ts'
import type { CargoWishes, Stage } from './stage.ts'

/**
 * Older clients do not read from a private registry: its downloads and API want Cargo's own token.
 */
const PRIVATE: ScenarioOptions = { settings: { PLIMSOLL_AUTH_REQUIRED: 'true' }, since: 74 }
const PROVIDER = '[registry]\nglobal-credential-providers = ["cargo:token"]\n'
const FOO = 'foo = { version = "1", registry = "test" }'

/**
 * A private registry whose index is a git repository. Cargo sends no token when git fetches it, so
 * git's credential helper must know the token. Downloads and the API get the token of Cargo's
 * configuration.
 */
export const privacyGit: readonly Scenario[] = [
  scenario(
    53,
    'with a git index, git shows the token as a password and cargo shows it as it is',
    ['git', 'api'],
    async stage => {
      await publishFoo(stage)
      const { requests } = stage.registry
      requests.clear()
      says(await known(stage).ok(stage.app(FOO), 'check'), 'Checking foo v1.0.0 (registry `test`)')
      const [first, ...later] = requests.all
      assert.match(
        `${first?.method} ${first?.url} ${first?.status}`,
        /^GET \/index\.git\/info\/refs\S+ 401$/,
      )
      assert.equal(first?.headers.authorization, undefined)
      assert.match(
        String(first?.responseHeaders['www-authenticate']),
        /^Basic realm="[^"]+", Cargo login_url="/,
      )
      assert.deepEqual([...new Set(later.filter(isGit).map(password))], [stage.api.token])
      const rest = later.filter(request => !isGit(request))
      assert.deepEqual(
        rest.map(request => `${request.method} ${request.url} ${request.status}`),
        ['GET /crates/foo/foo-1.0.0.crate 200'],
      )
      assert.equal(rest[0]?.headers.authorization, stage.api.token)
    },
    PRIVATE,
  ),

  scenario(
    54,
    'with a git index, a stranger gets neither index nor download',
    ['git', 'api'],
    async stage => {
      await publishFoo(stage)
      const { requests } = stage.registry
      for (const stranger of [stage.cargo({ config: PROVIDER }), known(stage, {}, 'plim_wrong')]) {
        requests.clear()
        says(await stranger.fails(stage.app(FOO), 'check'), /failed to fetch `http/)
        assert.deepEqual([...new Set(requests.all.map(request => request.status))], [401])
      }
      const noToken = await known(stage, { token: null }).fails(stage.app(FOO), 'check')
      says(noToken, 'no token found for `test`, please run `cargo login --registry test`')
      const wrongToken = await known(stage, { token: 'plim_wrong' }).fails(stage.app(FOO), 'check')
      says(wrongToken, /failed to download|token rejected/)
      assert.equal(requests.lines.at(-1), 'GET /crates/foo/foo-1.0.0.crate 401')
    },
    PRIVATE,
  ),

  scenario(
    55,
    'with a git index, publish, search, owners and yank are authorized, and no token gets into the log',
    ['git', 'api'],
    async stage => {
      const cargo = known(stage)
      await publishFoo(stage)
      const toml = `[dependencies]\n${FOO}`
      const args = ['publish', '--allow-dirty', '--registry', 'test']
      const published = await cargo.ok(stage.crate({ name: 'bar', toml }).folder, ...args)
      says(published, 'Published bar v1.0.0 at registry `test`')
      saysNot(published, stage.api.token)
      const found = await cargo.ok(stage.folder, 'search', '--registry', 'test', 'foo')
      assert.match(found.stdout, /^foo = "1\.0\.0" /)
      const list = await cargo.ok(stage.folder, 'owner', '--registry', 'test', '--list', 'foo')
      assert.match(list.stdout, /^sailor\b/)
      await stage.registry.yank(cargo, 'foo', '1.0.0')
      const refused = stage.registry.requests.all.filter(request => request.status !== 200)
      assert.deepEqual(
        [...new Set(refused.map(request => `${request.status} ${request.headers.authorization}`))],
        ['401 undefined'],
      )
      const { token } = stage.api
      for (const secret of [token, Buffer.from(`any:${token}`).toString('base64')]) {
        assert.ok(!stage.api.log().includes(secret))
      }
    },
    { ...PRIVATE, settings: { ...PRIVATE.settings, PLIMSOLL_LOG_LEVEL: 'debug' } },
  ),
]

/** A cargo whose git knows a token for every server. */
function known(stage: Stage, wishes: CargoWishes = {}, token = stage.api.token): Cargo {
  const cargo = stage.cargo({ config: PROVIDER, ...wishes })
  const helper = `!f() { echo username=any; echo password=${token}; }; f`
  writeFileSync(join(cargo.home, '.gitconfig'), `[credential]\n\thelper = "${helper}"\n`)
  return cargo
}

function publishFoo(stage: Stage): Promise<void> {
  return stage.registry.publish(known(stage), [stage.crate({ name: 'foo' })])
}

function isGit({ url }: LoggedRequest): boolean {
  return url.startsWith('/index.git/')
}

/** The password of HTTP basic authentication. */
function password({ headers }: LoggedRequest): string | undefined {
  const encoded = /^Basic (\S+)$/.exec(headers.authorization ?? '')?.[1]
  return (
    encoded &&
    Buffer.from(encoded, 'base64')
      .toString()
      .replace(/^[^:]*:/, '')
  )
}
