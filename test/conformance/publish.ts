import assert from 'node:assert/strict'
import { cargoIsAtLeast } from '../support/cargo.ts'
import { putRelease, refusal, send } from '../support/raw-publish.ts'
import type { Scenario } from './scenario.ts'
import { says, scenario } from './scenario.ts'

const PUT = 'PUT /api/v1/crates/new 200'

/** Writing over the web API. */
export const publish: readonly Scenario[] = [
  scenario(1, 'publish: what the registry warns of, cargo prints', ['api'], async stage => {
    await stage.publish({ name: 'harbour' })
    const { folder } = stage.crate({ name: 'habrour' })
    const published = await stage
      .cargo()
      .ok(folder, 'publish', '--no-verify', '--allow-dirty', '--registry', 'test')
    says(published, /^warning: .*`habrour`.*`harbour`/m)
  }),

  scenario(
    4,
    'publish::wait_for_first_publish_underscore: polls ask for the exact name alone',
    ['api', 'sparse'],
    async stage => {
      await stage.publish({ name: 'under_score' })
      const asked = stage.registry.requests.lines.filter(line => line.includes('/index/un/de/'))
      assert.deepEqual(asked, [
        'GET /index/un/de/under_score 404',
        'GET /index/un/de/under_score 200',
      ])
    },
  ),

  scenario(
    5,
    'a retry with the same bytes is a success that changes nothing',
    ['api'],
    async stage => {
      await stage.publish({ name: 'foo' })
      const before = await stage.index('3/f/foo')
      const answer = await putRelease(
        stage.registry,
        stage.api.token,
        { name: 'foo', vers: '1.0.0' },
        await stage.download('foo', '1.0.0'),
      )
      assert.equal(answer.status, 200)
      assert.equal(refusal(answer), null)
      assert.equal(await stage.index('3/f/foo'), before)
    },
  ),

  scenario(
    10,
    'publish::workspace_missing_dependency: what depends on nothing there is not taken',
    ['api'],
    async stage => {
      const { folder } = stage.workspace(
        {
          name: 'first',
          toml: '[dependencies]\nsecond = { path = "../second", version = "1", registry = "test" }',
        },
        { name: 'second' },
      )
      const args = ['publish', '-p', 'first', '--registry', 'test', '--allow-dirty', '--no-verify']
      const refused = await stage.cargo().fails(folder, ...args)
      says(refused, /no (matching package named|crate) `second`/)
      // Older clients leave it to the registry.
      const sent = stage.registry.requests.lines.filter(line => line.includes('/api/'))
      assert.deepEqual(sent, cargoIsAtLeast(84) ? [] : [PUT])
      assert.equal((await send('GET', stage.registry, '/index/fi/rs/first')).status, 404)
    },
  ),

  scenario(
    15,
    'publish::api_error_200: a refusal is 200 with `errors`, and cargo shows it',
    ['api', 'headers'],
    async stage => {
      await stage.publish({ name: 'foo-bar' })
      const { requests } = stage.registry
      requests.clear()
      const { folder } = stage.crate({ name: 'foo_bar' })
      const refused = await stage
        .cargo()
        .fails(folder, 'publish', '--no-verify', '--allow-dirty', '--registry', 'test')
      says(refused, /failed to publish (foo_bar v1\.0\.0 )?to registry at http/)
      says(refused, /the remote server responded with an error: .*foo-bar/)
      assert.deepEqual(
        requests.lines.filter(line => line.includes('/api/')),
        [PUT],
      )
      const answer = requests.to('PUT', '/api/v1/crates/new')[0]
      assert.match(String(answer?.responseHeaders['content-type']), /^application\/json/)
    },
  ),

  scenario(
    15,
    'with `api.error_status = "http"` the status is honest and the reason the same',
    ['api'],
    async stage => {
      await stage.publish({ name: 'foo-bar' })
      const { folder } = stage.crate({ name: 'foo_bar' })
      const refused = await stage
        .cargo()
        .fails(folder, 'publish', '--no-verify', '--allow-dirty', '--registry', 'test')
      says(refused, /the remote server responded with an error \(status 409 Conflict\): .*foo-bar/)
    },
    { settings: { PLIMSOLL_API_ERROR_STATUS: 'http' } },
  ),
]
