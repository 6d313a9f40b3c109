// Mirrors docs/README.md: its first steps, by the package that npm installs and real Cargo
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Cargo } from '../support/cargo.ts'
import { Cleanup } from '../support/cleanup.ts'
import { expectCode, run } from '../support/command.ts'
import { freePort } from '../support/loopback.ts'
import { plimsoll, root, serve } from '../support/plimsoll.ts'
import { scratch } from '../support/scratch.ts'

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

/** Packs the checkout and installs it as users do; returns the path of the installed program. */
async function install(folder: string): Promise<string> {
  const npm = async (...args: readonly string[]) => {
    // The user's settings say which registry of packages, and which proxy, is used here.
    const env = { ...process.env, npm_config_cache: join(folder, 'cache') }
    const ended = await run('npm', args, { cwd: root, env, timeoutMs: 300_000 })
    expectCode(`npm ${args.join(' ')}`, ended, 0)
  }
  await npm('pack', '--ignore-scripts', '--loglevel=error', '--pack-destination', folder)
  const [file = ''] = readdirSync(folder).filter(name => name.endsWith('.tgz'))
  await npm('install', '--global', '--prefix', join(folder, 'prefix'), join(folder, file))
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
