// Mirrors deploy/release/ and the Dockerfile
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { parse } from 'yaml'
import { expectCode, run } from '../support/command.ts'
import { execForm, lastOf, parseDockerfile, variables } from '../support/dockerfile.ts'
import { hostEnvironment, root } from '../support/plimsoll.ts'
import { NODES } from '../support/released.ts'

const read = (path: string): string => readFileSync(join(root, path), 'utf8')
/** An image that is the same whenever it is pulled. */
const PINNED = /^[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}$/

test('the image is fixed, runs as an unprivileged user, and gets its signals itself', () => {
  const text = read('Dockerfile')
  assert.ok(text.trim().split('\n').length <= 25)
  const stages = parseDockerfile(text)
  const names = ['scratch', ...stages.map(({ name }) => name)]
  for (const { base } of stages) assert.ok(names.includes(base) || PINNED.test(base), base)
  const final = stages.at(-1)
  assert.ok(final)
  assert.match(lastOf(final, 'USER'), /^[1-9]\d{3,}:[1-9]\d{3,}$/)
  // Without a shell, and with nothing between the engine and the program.
  const program = ['/opt/plimsoll/node', '/opt/plimsoll/dist/program/cli.js']
  assert.deepEqual(execForm(lastOf(final, 'ENTRYPOINT')), program)
  assert.deepEqual(execForm(lastOf(final, 'CMD')), ['serve', '--init'])
  assert.deepEqual(execForm(lastOf(final, 'HEALTHCHECK')), [...program, 'health'])
  assert.equal(variables(final).PLIMSOLL_DIR, '/data')
  const [node] = parse(read('compose.yaml')).services.buckets.entrypoint
  assert.equal(node, program[0])
  assert.ok(read('deploy/helm/plimsoll/templates/backup.yaml').includes(`command: [${node}, `))
  // Those that the image brings besides its base's C library: what `docker build` may read.
  const lines = read('.dockerignore').split('\n')
  assert.ok(lines.includes('*'))
  for (const [, path = ''] of text.matchAll(/^(?:ADD|COPY) ((?:dist|deploy)\S+)/gm))
    assert.ok(lines.includes(`!${path.replace(/linux-\w+/, 'linux-*')}`), path)
})

test('each platform has its Node, and a release with an old one fails', async () => {
  const nodes = Object.entries(NODES)
  const platforms = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64']
  assert.deepEqual(Object.keys(NODES), platforms)
  const lock = JSON.parse(read('package-lock.json')).packages
  for (const [platform, { package: name, version, integrity, addon }] of nodes) {
    assert.ok(name.endsWith(platform))
    assert.match(version, /^(?:24|26)\./)
    assert.match(integrity, /^sha512-[\w+/]{86}==$/)
    assert.ok(addon.startsWith(`@libsql/${platform}`))
    assert.match(lock[`node_modules/${addon}`].integrity, /^sha512-/)
  }
  const oldest = Math.min(...nodes.map(([, { date }]) => Date.parse(date))) / 1000
  const module = pathToFileURL(join(root, 'scripts', 'node.mjs')).href
  const made = (at: number) => {
    const call = `currentNodes(${JSON.stringify(root)}, ${at})`
    const script = `import { currentNodes } from '${module}'; console.log(${call}.length)`
    const args = ['--input-type=module', '--eval', script]
    return run(process.execPath, args, { cwd: root, env: hostEnvironment() })
  }
  const days = 86_400
  assert.equal(expectCode('current', await made(oldest + 90 * days), 0).stdout, '4\n')
  const { stderr } = expectCode('old', await made(oldest + 90 * days + 1), 1)
  assert.match(
    stderr,
    /^error: Node \S+ of \S+ came out on \S+, more than 90 days before this commit; name a newer one in deploy\/release\/nodes\.json/,
  )
})
