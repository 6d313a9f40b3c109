// `npm run check:deploy`: the S3 server of compose.yaml, as it is started there, with the settings
// that docs/run/install.md gives for it.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { Cleanup } from '../support/cleanup.ts'
import { expectCode, watch } from '../support/command.ts'
import { freePort } from '../support/loopback.ts'
import { plimsoll, root, serve } from '../support/plimsoll.ts'
import { publishTo } from '../support/release.ts'
import { scratch } from '../support/scratch.ts'
import { until } from '../support/until.ts'

interface Services {
  readonly objects: {
    readonly command: readonly string[]
    readonly healthcheck: { readonly test: readonly string[] }
  }
  readonly buckets: { readonly command: readonly string[] }
}

const { program } = (await import(join(root, 'scripts', 'versitygw.mjs'))) as { program: string }
const skip = existsSync(program) ? false : 'versitygw is not compiled: npm run setup:s3'

test('the daemon keeps its crates on the S3 server of compose.yaml', { skip }, async t => {
  const cleanup = new Cleanup(t)
  const folder = scratch(cleanup)
  const { services } = parse(readFileSync(join(root, 'compose.yaml'), 'utf8'), { merge: true }) as {
    services: Services
  }
  const port = await freePort()
  const here = (text: string) =>
    text.replaceAll('/data', join(folder, 'data')).replaceAll('7070', String(port))
  const [script = ''] = services.buckets.command
  assert.equal(spawnSync(process.execPath, ['-e', here(script)]).status, 0)
  const policies = documented()
  for (const name of ['AWS_SECRET_ACCESS_KEY', 'ROOT_SECRET_KEY'])
    policies[name] = 'a-secret-of-both'
  const server = start(cleanup, services.objects.command.map(here), policies)
  const health = here(services.objects.healthcheck.test.at(-1) ?? '')
  const isHealthy = async () => (await fetch(health).catch(() => null))?.ok === true
  await until(isHealthy, () => `the S3 server is not healthy (${server.exitCode})`)

  const env = { ...policies, PLIMSOLL_STORAGE_ENDPOINT: `http://127.0.0.1:${port}` }
  const dir = join(folder, 'registry')
  expectCode('init', await plimsoll(folder, ['init', '--dir', dir], env), 0)
  expectCode('user', await plimsoll(folder, ['user', 'add', 'ana', '--dir', dir], env), 0)
  const made = await plimsoll(folder, ['token', 'create', '--user', 'ana', '--dir', dir], env)
  const daemon = await serve(cleanup, dir, env)
  const demo = { name: 'demo', version: '1.0.0' }
  const put = await publishTo(daemon.url, made.stdout.trim(), demo)
  assert.equal(put.status, 200)
  const answer = await fetch(`${daemon.url}/crates/demo/demo-1.0.0.crate`)
  assert.equal(answer.status, 200)
  assert.ok((await answer.arrayBuffer()).byteLength > 0)
  const bucket = join(folder, 'data', 'objects', 'crates', 'de', 'mo', 'demo')
  assert.match(readdirSync(bucket).join(), /^[0-9a-f]{64}\.crate$/)
})

/** Returns the variables that docs/run/install.md has one write into plimsoll.env for it. */
function documented(): Record<string, string> {
  const text = readFileSync(join(root, 'docs', 'run', 'install.md'), 'utf8')
  const [, block = ''] = /```ini\n(PLIMSOLL_STORAGE_CRATES=.*?)```/s.exec(text) ?? []
  const lines = block.split('\n').filter(line => /^\w+=/.test(line))
  return Object.fromEntries(lines.map(line => line.split('=', 2) as [string, string]))
}

function start(
  cleanup: Cleanup,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): ChildProcess {
  const server = spawn(program, args, { stdio: 'inherit', env: { ...process.env, ...env } })
  const { ended } = watch(server)
  cleanup.add(async () => {
    server.kill('SIGKILL')
    await ended
  })
  return server
}
