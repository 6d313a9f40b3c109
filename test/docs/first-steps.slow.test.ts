// Mirrors docs/README.md: its first steps, by the package that npm installs and real Cargo
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { Cargo } from '../support/cargo.ts'
import { Cleanup } from '../support/cleanup.ts'
import { expectCode, run } from '../support/command.ts'
import { freePort } from '../support/loopback.ts'
import { plimsoll, root, serve } from '../support/plimsoll.ts'
import { publishTo } from '../support/release.ts'
import { scratch } from '../support/scratch.ts'
import { serveBy } from '../support/serving-program.ts'

test('npm installs the package into an empty prefix with an empty cache, and its first steps work', async t => {
  const cleanup = new Cleanup(t)
  const folder = scratch(cleanup)
  const program = await install(folder)
  const port = await freePort()
  const local = (line: string) =>
    line.replaceAll('/srv/', `${folder}/srv/`).replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`)
  mkdirSync(join(folder, 'srv'))

  let token = ''
  const lines = steps('npx plimsoll init').filter(line => line.startsWith('npx plimsoll '))
  const served = lines.pop() ?? ''
  assert.match(served, /^npx plimsoll serve /)
  for (const line of lines) {
    const [, , ...words] = local(line).split(' ')
    const ended = await plimsoll(folder, words, {}, '', [program])
    const { stdout } = expectCode(line, ended, 0)
    if (words[0] === 'token') token = stdout.trim()
  }
  const dir = join(folder, 'srv', 'registry')
  const { url } = await serve(cleanup, dir, {}, undefined, `127.0.0.1:${port}`, [program])
  assert.equal(local(served), `npx plimsoll serve --dir ${dir} --listen 127.0.0.1:${port}`)

  const block = expectCode(
    'config',
    await plimsoll(dir, ['config', '--dir', dir], {}, '', [program]),
    0,
  )
  const cratesIo = `sparse+${url}/index/`
  const cargo = new Cargo(join(folder, 'cargo'), { registries: {}, cratesIo, config: block.stdout })
  let at = folder
  for (const command of steps('cargo login').flatMap(line => line.split(' && '))) {
    const [tool, ...words] = command.split(' ')
    if (tool === 'cd') at = join(at, words.join(' '))
    else if (words[0] === 'login') await cargo.logIn(at, 'plimsoll', token)
    else await cargo.ok(at, ...words)
  }
  const lock = readFileSync(join(folder, 'my-app', 'Cargo.lock'), 'utf8')
  assert.match(lock, new RegExp(`name = "my-crate"\nversion = "0.1.0"\nsource = "sparse\\+${url}/`))
})

test('npx runs the package from an empty folder with an empty cache, as the README says', async t => {
  const cleanup = new Cleanup(t)
  const folder = scratch(cleanup)
  const file = await pack(folder)
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  const [, words = ''] = /^npx (--yes --package .*)$/m.exec(readme) ?? []
  assert.equal(words, `--yes --package ./${basename(file)} plimsoll serve --init`)
  const empty = join(folder, 'empty')
  mkdirSync(empty)
  const env = { ...process.env, npm_config_cache: join(folder, 'cache') }
  const line = ['npx', ...words.replace('./', '../').split(' ')]
  const { url, token, said } = await serveBy(cleanup, line, 'registry', env, empty)
  const published = await publishTo(url, token, { name: 'demo', version: '1.0.0' })
  assert.equal(published.status, 200, said.err)
  assert.match(said.out, /^\[registries\.plimsoll\]$/m)
  assert.deepEqual(readdirSync(empty), ['registry'])
  const version = await run('npx', [...line.slice(1, 5), '--version'], { cwd: empty, env })
  assert.match(version.stdout, /; npm package, Node /)
})

/** Packs the checkout into a folder; returns the path of the file. */
async function pack(folder: string): Promise<string> {
  const args = ['pack', '--ignore-scripts', '--loglevel=error', '--pack-destination', folder]
  const env = { ...process.env, npm_config_cache: join(folder, 'cache') }
  expectCode('npm pack', await run('npm', args, { cwd: root, env }), 0)
  const [file = ''] = readdirSync(folder).filter(name => name.endsWith('.tgz'))
  return join(folder, file)
}

/** Packs the checkout and installs it as users do; returns the path of the installed program. */
async function install(folder: string): Promise<string> {
  const npm = async (...args: readonly string[]) => {
    // The user's settings say which registry of packages, and which proxy, is used here.
    const env = { ...process.env, npm_config_cache: join(folder, 'cache') }
    const ended = await run('npm', args, { cwd: root, env, timeoutMs: 300_000 })
    expectCode(`npm ${args.join(' ')}`, ended, 0)
  }
  await npm('install', '--global', '--prefix', join(folder, 'prefix'), await pack(folder))
  return join(folder, 'prefix', 'bin', 'plimsoll')
}

/** The commands of the block that has this one. */
function steps(command: string): string[] {
  const text = readFileSync(join(root, 'docs', 'README.md'), 'utf8').replace(/^ {3}/gm, '')
  const blocks = [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block)
  const match = blocks.find(block => block.includes(command))
  assert.ok(match, command)
  return match.trim().split('\n')
}
