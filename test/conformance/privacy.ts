import assert from 'node:assert/strict'
import type { LoggedRequest } from '../support/request-log.ts'
import type { Scenario } from './scenario.ts'
import { says, saysNot, scenario } from './scenario.ts'

const PRIVATE = { settings: { PLIMSOLL_AUTH_REQUIRED: 'true' } }
/** Without a provider Cargo does not read from a private registry at all. */
const PROVIDER = '[registry]\nglobal-credential-providers = ["cargo:token"]\n'
const FOO = 'foo = { version = "1", registry = "test" }'

/** A registry that shows nothing to strangers. */
export const privacy: readonly Scenario[] = [
  scenario(
    53,
    'registry_auth::missing_token, login: cargo says where to get one',
    ['api', 'sparse'],
    async stage => {
      const cargo = stage.cargo({ token: null, config: PROVIDER })
      const checked = await cargo.fails(stage.app(FOO), 'check')
      says(checked, 'no token found for `test`, please run `cargo login --registry test`')
      const login = await cargo.run(stage.folder, 'login', '--registry', 'test')
      says(login, `please paste the token found on ${stage.registry.baseUrl}/me below`)
      assert.deepEqual([...new Set(stage.registry.requests.lines)], ['GET /index/config.json 401'])
    },
    PRIVATE,
  ),

  scenario(
    55,
    'registry_auth::token_not_logged: a publish with a dependency is authorized throughout',
    ['api', 'sparse', 'headers'],
    async stage => {
      const cargo = stage.cargo({ config: PROVIDER })
      await stage.registry.publish(cargo, [stage.crate({ name: 'bar' })])
      const { requests } = stage.registry
      requests.clear()
      const toml = '[dependencies]\nbar = { version = "1", registry = "test" }'
      const published = await cargo.ok(
        stage.crate({ name: 'foo', toml }).folder,
        ...['publish', '--allow-dirty', '--registry', 'test'],
      )
      assert.deepEqual([...new Set(requests.all.map(authorization))], [stage.api.token])
      const unhappy = requests.lines.filter(line => !/ (200|304)$/.test(line))
      assert.deepEqual(unhappy, ['GET /index/3/f/foo 404'])
      assert.notEqual(stage.api.log(), '')
      assert.ok(!stage.api.log().includes(stage.api.token))
      saysNot(published, stage.api.token)
    },
    { settings: { ...PRIVATE.settings, PLIMSOLL_LOG_LEVEL: 'debug' } },
  ),
]

function authorization(request: LoggedRequest): string | undefined {
  return request.headers.authorization
}
