import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Cargo } from '../../support/cargo.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { openServer } from '../../support/open-server.ts'
import { writeProject } from '../../support/project.ts'
import { TestRegistry } from '../../support/registry.ts'
import { scratch } from '../../support/scratch.ts'

const MIB = 1024 * 1024

/** A registry behind a wire of so many bytes a second, and a cargo that publishes a crate of some size to it. */
async function stage(t: TestContext, bytesPerSecond: number) {
  const server = await openServer(t)
  const url = await slowWire(t, server.url, bytesPerSecond)
  const registry = await TestRegistry.open(t, { env: { PLIMSOLL_REGISTRY_BASE_URL: url } })
  server.answer(registry.app.fetch)
  const folder = scratch(new Cleanup(t))
  const publish = async (name: string, size: number, token: string) => {
    const { folder: project } = writeProject(join(folder, name), { name })
    writeFileSync(join(project, 'noise.bin'), randomBytes(size))
    const index = `sparse+${url}/index/`
    const cargo = new Cargo(join(folder, 'home'), {
      registries: { test: index },
      cratesIo: index,
      tokens: { test: token },
    })
    const options = ['--registry', 'test', '--no-verify', '--allow-dirty']
    return cargo.run(project, 'publish', ...options)
  }
  return { registry, publish }
}

/** Passes connections on to `target`, what is sent to it no faster than told. */
async function slowWire(t: TestContext, target: string, bytesPerSecond: number): Promise<string> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  const server = createServer(near => {
    const far = connect(Number(port), hostname)
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {
        near.destroy()
        far.destroy()
      })
      socket.on('close', () => sockets.delete(socket))
    }
    const brake = new Transform({
      transform(chunk: Buffer, _, done) {
        sleep((chunk.length / bytesPerSecond) * 1000).then(() => done(null, chunk), done)
      },
    })
    near.pipe(brake).pipe(far)
    far.pipe(near)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('cargo publishes a crate of 9 MiB', async t => {
  const { registry, publish } = await stage(t, 100 * MIB)
  const { code, stderr } = await publish('nine', 9 * MIB, await registry.user('alice'))
  assert.equal(code, 0, stderr)
  assert.match(stderr, /Published nine v1\.0\.0/)
})

test('cargo shows why a publish was refused, not how its connection broke', async t => {
  const { registry, publish } = await stage(t, 8 * MIB)
  const good = await registry.user('alice')
  const reader = await registry.token(1, { scopes: ['read'] })
  const rows: [what: string, token: string, said: RegExp][] = [
    ['too big', good, /413.*the \.crate is bigger than the 10 MiB allowed here; leave out/],
    ['no right, and too big', reader, /403.*\n?.*lacks the scope `publish-new`/],
  ]
  for (const [what, token, said] of rows) {
    const { code, stderr } = await publish('twelve', 12 * MIB, token)
    assert.equal(code, 101, `${what}: ${stderr}`)
    assert.match(stderr, said, what)
    assert.doesNotMatch(stderr, /broken pipe|curl|\[\d\d\]/i, what)
  }
  const everything = await registry.everything()
  assert.deepEqual([everything.crates, everything.releases], [[], []])
})
