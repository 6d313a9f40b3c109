import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Cargo } from '../support/cargo.ts'
import { Cleanup } from '../support/cleanup.ts'
import { expectCode, run } from '../support/command.ts'
import { plimsoll, serve } from '../support/plimsoll.ts'
import { writeProject } from '../support/project.ts'
import { scratch } from '../support/scratch.ts'

// Over plain HTTP Cargo keeps two connections; over TLS it asks for everything at once on one, with HTTP/2.
test('conformance: the daemon over TLS speaks HTTP/2 with cargo, for index, downloads and API', async t => {
  const cleanup = new Cleanup(t)
  const folder = scratch(cleanup)
  const dir = join(folder, 'registry')
  const { cert, key } = await certificate(folder)
  const command = async (...args: readonly string[]): Promise<string> => {
    const ended = await plimsoll(folder, [...args, '--dir', dir])
    return expectCode(`plimsoll ${args.join(' ')}`, ended, 0).stdout.trim()
  }
  await command('init')
  await command('user', 'add', 'sailor')
  const token = await command('token', 'create', '--user', 'sailor')
  const { url } = await serve(cleanup, dir, { PLIMSOLL_TLS_CERT: cert, PLIMSOLL_TLS_KEY: key })
  assert.match(url, /^https:/)

  const cargo = (name: string): Cargo =>
    new Cargo(join(folder, name), {
      registries: { test: `sparse+${url}/index/` },
      cratesIo: 'sparse+http://127.0.0.1:9/',
      tokens: { test: token },
      config: `[http]\ncainfo = ${JSON.stringify(cert)}\ndebug = true\n`,
      env: { CARGO_LOG: 'network=debug' },
    })
  const names = ['north', 'south', 'east', 'west']
  const publisher = cargo('publisher')
  for (const name of names) {
    const project = writeProject(join(folder, name), { name })
    const args = ['publish', '--no-verify', '--allow-dirty', '--registry', 'test']
    const published = await publisher.ok(project.folder, ...args)
    assert.match(published.stderr, new RegExp(`Published ${name} v1\\.0\\.0 at registry \`test\``))
    assert.match(published.stderr, /PUT \/api\/v1\/crates\/new HTTP\/2/)
  }
  const dependencies = names.map(name => `${name} = { version = "1", registry = "test" }`)
  const app = join(folder, 'app')
  mkdirSync(app)
  writeProject(app, { name: 'app', toml: `[dependencies]\n${dependencies.join('\n')}` })
  const { stderr } = await cargo('reader').ok(app, 'check')
  for (const name of names) {
    assert.match(stderr, new RegExp(`Checking ${name} v1\\.0\\.0 \\(registry \`test\`\\)`))
    assert.match(stderr, new RegExp(`GET /crates/${name}/${name}-1\\.0\\.0\\.crate HTTP/2`))
  }
  assert.doesNotMatch(stderr, /GET \S+ HTTP\/1\.1/)
})

/** A certificate for 127.0.0.1 that is its own authority. */
async function certificate(folder: string): Promise<{ cert: string; key: string }> {
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1']
  const args = ['req', ...kind, ...subject, '-keyout', key, '-out', cert]
  expectCode('openssl req', await run('openssl', args, { cwd: folder, env: process.env }), 0)
  return { cert, key }
}
