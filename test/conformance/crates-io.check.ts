// `npm run try:upstream`: what `upstream.test.ts` does with a made-up upstream, with crates.io. A
// server of this test stands between, which records the requests and can be cut off.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { Cargo } from '../support/cargo.ts'
import { Cleanup } from '../support/cleanup.ts'
import { FileServer } from '../support/file-server.ts'
import { closeServer, listen } from '../support/loopback.ts'
import { plimsollHere, serveHere } from '../support/program.ts'
import { writeProject } from '../support/project.ts'
import { RequestLog } from '../support/request-log.ts'
import { scratch } from '../support/scratch.ts'
import { copyTemplate } from './registry-template.ts'

const CRATES_IO = 'https://index.crates.io'

/** What is built, and what is only locked and fetched: it is for no computer at all. */
const DEPENDENCIES = `[dependencies]
regex = "1"
serde_json = "1"
ours = { version = "1", registry = "team" }

[target.'cfg(any())'.dependencies]
axum = "0.8"
clap = { version = "4", features = ["derive"] }
criterion = "0.5"
image = "0.25"
notify = "8"
proptest = "1"
ratatui = "0.29"
reqwest = "0.12"
tokio = { version = "1", features = ["full"] }
tower-http = "0.6"
tracing-subscriber = "0.3"`

/** crates.io behind a server of this computer. */
class Passage {
  readonly requests = new RequestLog()
  isCut = false

  static async start(cleanup: Cleanup): Promise<Passage & { readonly url: string }> {
    const config = await fetch(`${CRATES_IO}/config.json`)
    assert.equal(config.status, 200, 'crates.io cannot be reached')
    const { dl } = (await config.json()) as { dl: string }
    assert.doesNotMatch(dl, /\{/)
    const passage = new Passage()
    const server = createServer((request, response) => {
      passage.#answer(dl, request, response).catch((error: Error) => response.destroy(error))
    })
    const url = await listen(server)
    cleanup.add(() => closeServer(server))
    return Object.assign(passage, { url })
  }

  async #answer(dl: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request
    this.requests.add(method, url, headers)
    if (this.isCut) return void response.destroy()
    if (url === '/index/config.json')
      return void response.end(JSON.stringify({ dl: `http://${headers.host}/dl` }))
    const etag = headers['if-none-match']
    const answer = await fetch(url.replace(/^\/index/, CRATES_IO).replace(/^\/dl/, dl), {
      headers: {
        'user-agent': headers['user-agent'] ?? '',
        ...(etag && { 'if-none-match': etag }),
      },
    })
    const told = [...answer.headers].filter(([name]) => /^(etag|last-modified)$/.test(name))
    response
      .writeHead(answer.status, Object.fromEntries(told))
      .end(Buffer.from(await answer.arrayBuffer()))
  }
}

test('300 crates of crates.io and an own one through one address: online, cut off, as plain files', async t => {
  const cleanup = new Cleanup(t)
  const folder = scratch(cleanup)
  const passage = await Passage.start(cleanup)
  const dir = join(folder, 'registry')
  const env: Record<string, string> = {
    PLIMSOLL_UPSTREAM_CRATES_IO_INDEX: `sparse+${passage.url}/index/`,
    PLIMSOLL_UPSTREAM_CRATES_IO_FALLBACK: 'serve',
    PLIMSOLL_GIT_INDEX: 'off',
  }
  const token = await copyTemplate(cleanup, dir)
  const { url } = await serveHere(cleanup, dir, env)
  const team = `sparse+${url}/index/`
  let homes = 0
  const cargo = (cratesIo: string | null) =>
    new Cargo(join(folder, `home-${homes++}`), {
      ...{ registries: { team }, cratesIo, tokens: { team: token } },
      // The usual limits are short where crates.io is far away.
      timeoutMs: 600_000,
      config: '[http]\ntimeout = 120',
    })
  const project = (place: string, name: string, toml: string) =>
    writeProject(join(folder, place), { name, toml }).folder
  const ours = project('ours', 'ours', '')
  await cargo(null).ok(ours, 'publish', '--registry', 'team', '--no-verify', '--allow-dirty')
  passage.requests.clear()

  const direct = project('direct', 'app', DEPENDENCIES)
  await cargo(null).ok(direct, 'generate-lockfile')
  const lock = readFileSync(join(direct, 'Cargo.lock'), 'utf8')
  const count = lock.match(/^name = /gm)?.length ?? 0
  t.diagnostic(`${count} packages`)
  assert.ok(count >= 300)

  const app = project('app', 'app', DEPENDENCIES)
  const build = async (cratesIo: string, ...args: string[]) => {
    const fresh = cargo(cratesIo)
    await fresh.ok(app, 'fetch', ...args)
    await fresh.ok(app, 'check', '--locked', '--offline')
    assert.equal(readFileSync(join(app, 'Cargo.lock'), 'utf8'), lock)
  }
  await build(team)
  assert.deepEqual(
    passage.requests.all.filter(({ url }) => /ours/.test(url)),
    [],
    'an own name arrived at crates.io',
  )
  passage.isCut = true
  await build(team, '--locked')

  const site = await FileServer.start(cleanup, dir)
  const there = { ...env, PLIMSOLL_REGISTRY_BASE_URL: site.url }
  const file = join(app, 'Cargo.lock')
  const fetched = ['upstream', 'fetch', '--lock', file, '--dir', dir]
  const offline = { ...there, PLIMSOLL_UPSTREAM_CRATES_IO_OFFLINE: 'true' }
  assert.equal((await plimsollHere(fetched, offline)).code, 0)
  await build(`sparse+${site.url}/upstream/crates-io/index/`, '--locked')
})
