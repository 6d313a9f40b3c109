import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { type ServerType, serve } from '@hono/node-server'
import { Hono } from 'hono'
import { gitHttp } from '../../../daemon/files/git-http/git-http.ts'
import type { IndexChange } from '../../../generator/git/index-repository/engine.ts'
import {
  type IndexRepository,
  openIndexRepository,
} from '../../../generator/git/index-repository/repository.ts'
import { buildCrate } from '../../support/crate-builder.ts'

const run = promisify(execFile)
const cargo = process.env.PLIMSOLL_CARGO ?? 'cargo'

describe('cargo over the git index', () => {
  let root = ''
  let url = ''
  let repository: IndexRepository
  let server: ServerType
  const requests: string[] = []
  const crates = new Map<string, Uint8Array>()
  const lines: string[] = []

  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'plimsoll-git-cargo-'))
    const path = join(root, 'index.git')
    repository = await openIndexRepository({ path })
    const handle = gitHttp({ repositoryPath: path })
    const app = new Hono()
      .use(async (c, next) => {
        requests.push(`${c.req.method} ${c.req.path} ${c.req.header('git-protocol') ?? ''}`.trim())
        await next()
      })
      .all('/index.git/*', c => handle(c))
      .get('/dl/:file', c => {
        const bytes = crates.get(c.req.param('file'))
        return bytes ? c.body(Buffer.from(bytes)) : c.notFound()
      })
    server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
    await once(server, 'listening')
    const address = server.address()
    url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
    await commit({
      path: 'config.json',
      bytes: Buffer.from(`{"dl":"${url}/dl/{crate}-{version}.crate"}`),
    })
    await release('1.0.0')
  })
  after(async () => {
    server.close()
    await repository.close()
    await rm(root, { recursive: true, force: true })
  })

  const commit = async (...changes: IndexChange[]): Promise<string | null> =>
    await repository.commit(changes, { message: 'Change\n', time: new Date() })

  /** Adds a version of the crate `shell`, whose one function tells it. */
  async function release(version: string): Promise<void> {
    const source = `pub fn version() -> &'static str { "${version}" }\n`
    const bytes = buildCrate({ name: 'shell', version, files: { 'src/lib.rs': source } })
    crates.set(`shell-${version}.crate`, bytes)
    const cksum = createHash('sha256').update(bytes).digest('hex')
    lines.push(
      `${JSON.stringify({ name: 'shell', vers: version, deps: [], cksum, features: {}, yanked: false })}\n`,
    )
    await commit({ path: 'sh/el/shell', bytes: Buffer.from(lines.join('')) })
  }

  /** A program that uses `shell`, with a Cargo home of its own: nothing comes from elsewhere. */
  async function consumer(
    name: string,
    config: string,
  ): Promise<(...args: string[]) => Promise<string>> {
    const folder = join(root, name)
    await mkdir(join(folder, 'src'), { recursive: true })
    const manifest = `[package]\nname = "consumer"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\nshell = { version = "1", registry = "here" }\n`
    await writeFile(join(folder, 'Cargo.toml'), manifest)
    await writeFile(
      join(folder, 'src/main.rs'),
      'fn main() { println!("shell {}", shell::version()) }\n',
    )
    await mkdir(join(folder, '.cargo'))
    const registries = `[registries.here]\nindex = "${url}/index.git"\n[source.crates-io]\nregistry = "http://127.0.0.1:9/"\n`
    await writeFile(join(folder, '.cargo/config.toml'), `${registries}${config}`)
    const env = {
      ...process.env,
      CARGO_HOME: join(folder, 'home'),
      CARGO_TARGET_DIR: join(folder, 'target'),
    }
    return async (...args) => {
      const { stdout, stderr } = await run(cargo, args, { cwd: folder, env })
      return `${stdout}${stderr}`
    }
  }

  for (const [name, config, protocol] of [
    ['libgit2', '', ''],
    ['git-cli', '[net]\ngit-fetch-with-cli = true\n', ' version=2'],
  ] as const) {
    test(`resolves, downloads, builds and updates with ${name}`, { timeout: 180_000 }, async () => {
      requests.length = 0
      const run = await consumer(name, config)
      const before = lines.length
      assert.match(await run('run'), new RegExp(`shell 1\\.0\\.${before - 1}`))
      assert.ok(requests.includes(`GET /index.git/info/refs${protocol}`))
      assert.ok(requests.includes(`POST /index.git/git-upload-pack${protocol}`))

      // Nothing new: the conversation ends with the refs.
      requests.length = 0
      await run('update')
      assert.deepEqual(
        requests.filter(request => !request.startsWith('GET /index.git/info/refs')),
        name === 'libgit2' ? [] : [`POST /index.git/git-upload-pack${protocol}`],
      )

      await release(`1.0.${before}`)
      assert.match(
        await run('update'),
        new RegExp(`shell v1\\.0\\.${before - 1} .*-> v1\\.0\\.${before}`),
      )
      assert.match(await run('run'), new RegExp(`shell 1\\.0\\.${before}`))
      const lock = await readFile(join(root, name, 'Cargo.lock'), 'utf8')
      assert.ok(lock.includes(`source = "registry+${url}/index.git"`))
    })
  }
})
