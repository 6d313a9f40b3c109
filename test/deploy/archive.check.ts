// `npm run check:deploy`: the archives of the release, this machine's run as strangers may run it.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Cargo } from '../support/cargo.ts'
import { Cleanup } from '../support/cleanup.ts'
import { expectCode, run } from '../support/command.ts'
import { writeProject } from '../support/project.ts'
import { NODES, RELEASE, unpackRelease, VERSION } from '../support/released.ts'
import { scratch } from '../support/scratch.ts'
import { serveBy } from '../support/serving-program.ts'

const BYTES_MAX = 55e6
const START_MS = 2000
const STRANGER = 54_321
/** What `file` calls a program and an addon of each platform. */
const KINDS: Readonly<Record<string, RegExp>> = {
  'linux-x64': /ELF 64-bit .* x86-64/,
  'linux-arm64': /ELF 64-bit .* ARM aarch64/,
  'darwin-x64': /Mach-O 64-bit x86_64/,
  'darwin-arm64': /Mach-O 64-bit arm64/,
}

test('each archive has the Node and the addon of its platform, says so, and is small', t => {
  const folder = scratch(new Cleanup(t))
  assert.deepEqual(Object.keys(NODES), Object.keys(KINDS))
  for (const [platform, kind] of Object.entries(KINDS)) {
    const node = NODES[platform]
    assert.ok(node)
    const bytes = statSync(join(RELEASE, `plimsoll-${VERSION}-${platform}.tar.gz`)).size
    t.diagnostic(`${platform}: ${(bytes / 1e6).toFixed(1)} MB, Node ${node.version}`)
    assert.ok(bytes <= BYTES_MAX, platform)
    const unpacked = unpackRelease(platform, folder)
    const lost = execFileSync('find', [unpacked, '-xtype', 'l']).toString()
    assert.equal(lost, '', 'links that lead out of the archive')
    const read = (path: string) => readFileSync(join(unpacked, path), 'utf8')
    const [addon] = readdirSync(join(unpacked, 'node_modules', '@libsql'))
    assert.equal(`@libsql/${addon}`, node.addon)
    const binary = join('node_modules', node.addon, 'index.node')
    for (const file of ['node', binary])
      assert.match(execFileSync('file', ['-b', join(unpacked, file)]).toString(), kind, file)
    assert.match(read('NODE'), new RegExp(`^Node ${node.version}, of ${node.date}: `))
    assert.equal(read('dist/packed'), `archive for ${platform}\n`)
    const sbom: { name: string; version: string }[] = JSON.parse(read('sbom.cdx.json')).components
    assert.deepEqual(
      sbom.filter(({ name }) => name === 'node' || name.startsWith('@libsql/')),
      sbom.filter(({ name }) => [node.addon, 'node'].includes(name)),
    )
    assert.ok(sbom.some(({ name, version }) => name === 'node' && version === node.version))
    // Of each package that the SBOM names, there are the terms.
    const terms = read('LICENSES')
    for (const { name, version } of sbom.filter(({ name }) => name !== 'node'))
      assert.ok(terms.includes(`\n${name} ${version}: `) || terms.startsWith(`${name} `), name)
    assert.match(read('LICENSE-NODE'), /^Node\.js is licensed for use as follows:/)
  }
})

const skip =
  process.platform !== 'linux' || process.getuid?.() !== 0 ? 'Linux and root only' : false

test('a stranger publishes and builds, with the archive read-only below a path with blanks', {
  skip,
}, async t => {
  const cleanup = new Cleanup(t)
  const folder = scratch(cleanup)
  const program = join(unpackRelease(`linux-${process.arch}`, join(folder, 'a b')), 'plimsoll')
  const data = join(folder, 'its data')
  mkdirSync(data)
  chownSync(data, STRANGER, STRANGER)
  chmodSync(folder, 0o755)
  const steps = `set -e; mount --bind "$0" "$0"; mount -o remount,bind,ro "$0"
    cd "$1"; ! touch "$0/new" 2>/dev/null; shift
    exec setpriv --reuid ${STRANGER} --regid ${STRANGER} --clear-groups env -i PATH=/usr/bin "$@"`
  const stranger = ['unshare', '--mount', 'sh', '-c', steps, join(folder, 'a b'), data, program]
  const [unshare = '', ...words] = stranger
  const env = { PATH: process.env.PATH }
  const said = await run(unshare, [...words, '--version'], { cwd: folder, env })
  const packed = `archive for linux-${process.arch}, Node ${NODES[`linux-${process.arch}`]?.version}`
  assert.match(expectCode('--version', said, 0).stdout, new RegExp(`^${VERSION} \\(.*${packed}`))

  const began = process.hrtime.bigint()
  const serve = [...stranger, 'serve', '--init', '--listen', '127.0.0.1:0']
  const { url, token, said: told, child } = await serveBy(cleanup, serve, folder)
  const took = Number(process.hrtime.bigint() - began) / 1e6
  t.diagnostic(`listening after ${Math.round(took)} ms`)
  assert.ok(took < START_MS)
  assert.match(told.out, /^\[registries\.plimsoll\]$/m)
  assert.match(readFileSync(`/proc/${child.pid}/status`, 'utf8'), /^Uid:\t54321\t/m)
  assert.equal(statSync(join(data, 'registry')).uid, STRANGER)
  const cargo = new Cargo(join(folder, 'cargo'), {
    registries: { plimsoll: `sparse+${url}/index/` },
    cratesIo: `sparse+${url}/index/`,
    tokens: { plimsoll: token },
  })
  const crate = writeProject(join(folder, 'my-crate'), { name: 'my-crate' })
  await cargo.ok(crate.folder, 'publish', '--registry', 'plimsoll')
  const toml = '[dependencies]\nmy-crate = { version = "1", registry = "plimsoll" }'
  const app = writeProject(join(folder, 'my-app'), { name: 'my-app', toml })
  await cargo.ok(app.folder, 'build')
})
