import assert from 'node:assert/strict'
import type { Scenario } from './scenario.ts'
import { says, saysNot, scenario } from './scenario.ts'

const NAMES = ['north', 'south', 'east', 'west']
const VERBOSE = { CARGO_HTTP_DEBUG: 'true', CARGO_LOG: 'network=debug' }

/**
 * Over plain HTTP Cargo keeps two connections; over TLS it asks for everything at once on one, with
 * HTTP/2.
 */
export const http2: readonly Scenario[] = [
  scenario(
    28,
    'over TLS cargo speaks HTTP/2 with index, downloads and API',
    ['tls'],
    async stage => {
      const publisher = stage.cargo({ env: VERBOSE })
      for (const name of NAMES) {
        const args = ['publish', '--no-verify', '--allow-dirty', '--registry', 'test']
        const published = await publisher.ok(stage.crate({ name }).folder, ...args)
        says(published, `Published ${name} v1.0.0 at registry \`test\``)
        says(published, 'PUT /api/v1/crates/new HTTP/2')
        saysNot(published, ' HTTP/1.1')
      }
      const app = stage.app(
        NAMES.map(name => `${name} = { version = "1", registry = "test" }`).join('\n'),
      )
      const checked = await stage.cargo({ env: VERBOSE }).ok(app, 'check')
      for (const name of NAMES) {
        says(checked, `Checking ${name} v1.0.0 (registry \`test\`)`)
        says(checked, `GET /crates/${name}/${name}-1.0.0.crate HTTP/2`)
        says(checked, `GET /index/${name.slice(0, 2)}/${name.slice(2, 4)}/${name} HTTP/2`)
      }
      saysNot(checked, ' HTTP/1.1')
    },
  ),

  scenario(28, 'over TLS a cargo set to HTTP/1.1 works, too', ['tls'], async stage => {
    const env = { ...VERBOSE, CARGO_HTTP_MULTIPLEXING: 'false' }
    await stage.registry.publish(stage.cargo({ env }), [stage.crate({ name: 'foo' })])
    const checked = await stage
      .cargo({ env })
      .ok(stage.app('foo = { version = "1", registry = "test" }'), 'check')
    says(checked, 'GET /crates/foo/foo-1.0.0.crate HTTP/1.1')
    saysNot(checked, ' HTTP/2')
    assert.equal(stage.registry.requests.lines.at(-1), 'GET /crates/foo/foo-1.0.0.crate 200')
  }),
]
