// `npm run check:deploy`: nginx, Apache and Caddy with the texts of docs/run/hosting.md and
// docs/run/upstream.md serve a static tree to real Cargo, as the one address for all crates.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Cleanup } from '../support/cleanup.ts'
import { freePort } from '../support/loopback.ts'
import { blockFor, makeSite, playOneAddress, type StaticSite } from '../support/one-address.ts'
import { scratch } from '../support/scratch.ts'
import { until } from '../support/until.ts'

const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` }
const isRoot = process.getuid?.() === 0

/** A web server: its configuration, and the arguments that start it with that in the foreground. */
interface WebServer {
  readonly program: string
  readonly config: (site: StaticSite, folder: string) => string
  readonly args: (file: string) => readonly string[]
}

const servers: readonly WebServer[] = [
  {
    program: 'nginx',
    config: (site, folder) => `${isRoot ? 'user root;' : ''}
pid ${folder}/pid;
events {}
http {
  include /etc/nginx/mime.types;
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map(name => `${name}_temp_path ${folder}/${name};`)
    .join('\n  ')}
  ${before(hosting(site, 'nginx'), /^ {2}location/m, blockFor(site, 'run/upstream.md', 'nginx'))
    .replace('listen 443 ssl http2', `listen ${new URL(site.url).host}`)
    .replace(/^ *ssl_certificate.*\n/gm, '')}
}`,
    args: file => ['-c', file, '-e', 'stderr', '-g', 'daemon off;'],
  },
  {
    program: 'apache2',
    config: (site, folder) => `ServerName localhost
Listen ${new URL(site.url).host}
PidFile ${folder}/pid
DefaultRuntimeDir ${folder}
ErrorLog ${folder}/log
User www-data
Group www-data
TypesConfig /etc/mime.types
DirectoryIndex index.html
${['mpm_event', 'authz_core', 'dir', 'mime', 'headers', 'filter', 'deflate', 'rewrite', 'alias']
  .map(name => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`)
  .join('\n')}
<VirtualHost *>
${hosting(site, 'apache')}
${blockFor(site, 'run/upstream.md', 'apache')}
</VirtualHost>
`,
    args: file => ['-f', file, '-D', 'FOREGROUND'],
  },
  {
    program: 'caddy',
    config: (site, folder) => `{
	admin off
	auto_https off
	storage file_system ${folder}
}
${before(
  hosting(site, 'caddyfile'),
  /^\tencode/m,
  blockFor(site, 'run/upstream.md', 'caddyfile'),
).replace('crates.example.com', site.url)}`,
    args: file => ['run', '--config', file, '--adapter', 'caddyfile'],
  },
]

for (const server of servers) {
  const isMissing = spawnSync(server.program, ['-v'], { env }).error !== undefined
  const skip = isMissing ? `there is no ${server.program}` : false
  test(`${server.program} makes a static tree the one address`, { skip }, async t => {
    const cleanup = new Cleanup(t)
    const folder = scratch(cleanup)
    // Apache never runs as root.
    chmodSync(folder, 0o755)
    const site = await makeSite(cleanup, folder, `http://127.0.0.1:${await freePort()}`)
    await start(cleanup, folder, site, server)
    await playOneAddress(folder, site, { status: 307, knowsFolders: true })
    const cacheOf = async (path: string) => {
      const answer = await fetch(site.url + path)
      return [answer.status, answer.headers.get('cache-control')]
    }
    assert.deepEqual(await cacheOf('/index/ou/rs/ours'), [200, 'no-cache'])
    const forever = 'public, max-age=31536000, immutable'
    assert.deepEqual(await cacheOf('/crates/ours/ours-1.0.0.crate'), [200, forever])
    assert.match(await (await fetch(`${site.url}/crates/none/`)).text(), /<html/)
  })
}

function hosting(site: StaticSite, language: string): string {
  return blockFor(site, 'run/hosting.md', language).replaceAll('/srv/registry/public', site.tree)
}

function before(text: string, place: RegExp, inserted: string): string {
  assert.match(text, place)
  return text.replace(place, line => `${inserted}${line}`)
}

/** Starts a web server; it ends with the test. */
async function start(
  cleanup: Cleanup,
  folder: string,
  site: StaticSite,
  { program, config, args }: WebServer,
): Promise<void> {
  const own = join(folder, program)
  mkdirSync(own)
  const file = join(own, 'config')
  writeFileSync(file, config(site, own))
  const child = spawn(program, args(file), { env, stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', chunk => {
    said += chunk
  })
  const ended = new Promise(resolve => child.on('close', resolve))
  cleanup.add(async () => {
    child.kill('SIGTERM')
    await ended
  })
  const isThere = () =>
    fetch(`${site.url}/index/config.json`).then(
      () => true,
      () => false,
    )
  await until(
    async () => {
      assert.equal(child.exitCode, null, said)
      return isThere()
    },
    () => said,
  )
}
