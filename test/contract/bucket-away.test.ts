// Mirrors daemon/files/bucket-files.ts and daemon/readiness.ts: what a daemon answers whose bucket,
// and then whose database, is away.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { Cargo } from '../support/cargo.ts'
import { Cluster, firstToken, publish } from '../support/cluster.ts'
import { postgresSuite } from '../support/postgres-suite.ts'
import { writeProject } from '../support/project.ts'
import { until } from '../support/until.ts'
import { folderOf } from '../support/workplace.ts'

const { server, skip } = postgresSuite()

test('Cargo resolves while the bucket is away, and /readyz says soon what is missing', {
  skip,
}, async t => {
  const cluster = await Cluster.make(t, server, 'away', true)
  const daemon = await cluster.daemon()
  const token = firstToken(daemon)
  assert.equal((await publish(daemon, token, '1.0.0')).status, 200)
  const config = async () => {
    const answer = await fetch(`${daemon.url}/index/config.json`)
    return [answer.status, answer.headers.get('etag'), await answer.text()]
  }
  const there = await config()
  assert.equal(there[2], cluster.s3?.objects.get('www/index/config.json')?.bytes.toString())
  const ready = async () => {
    const signal = AbortSignal.timeout(2000)
    return (await fetch(`${daemon.url}/readyz`, { signal })).text()
  }
  const says = async (text: string) => {
    let last = ''
    const asks = async () => {
      last = await ready()
      return last === text
    }
    await until(asks, () => `it says ${last}`)
  }
  await says('ready\n')

  if (cluster.s3) cluster.s3.fault = () => 'cut'
  const late = AbortSignal.timeout(10_000)
  assert.deepEqual(await config(), there)
  const folder = folderOf(t)
  const index = `sparse+${daemon.url}/index/`
  const cargo = new Cargo(join(folder, 'home'), { registries: { test: index }, cratesIo: index })
  const project = writeProject(join(folder, 'user'), {
    name: 'user',
    toml: '[dependencies]\ndemo = { version = "1", registry = "test" }\n',
    files: { 'src/lib.rs': '' },
  })
  await cargo.ok(project.folder, 'generate-lockfile')
  assert.ok(!late.aborted, 'Cargo had to wait for the bucket')
  await says('not ready: crate store, public tree\n')

  await server.kill()
  await says('not ready: catalog, crate store, public tree\n')
  assert.deepEqual(await config(), there)
  await server.start()
  if (cluster.s3) cluster.s3.fault = () => null
})
