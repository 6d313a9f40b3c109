// `npm run check:deploy`: does what the Dockerfile says in folders that stand for its stages, with
// this machine's C library instead of the base's, and uses the result as a container would.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Cleanup } from '../support/cleanup.ts'
import { watch } from '../support/command.ts'
import { execForm, lastOf, parseDockerfile, type Stage, variables } from '../support/dockerfile.ts'
import { type Confinement, enter, insideOf } from '../support/folder-root.ts'
import { freePort } from '../support/loopback.ts'
import { root as checkout } from '../support/plimsoll.ts'
import { publishTo } from '../support/release.ts'
import { RELEASE, VERSION } from '../support/released.ts'
import { scratch } from '../support/scratch.ts'
import { until } from '../support/until.ts'

const IMAGE_BYTES_MAX = 170e6
/** The default of `docker stop` is 10 s; compose.yaml and the chart give more. */
const STOP_MS = 10_000

const skip =
  process.platform !== 'linux' || process.getuid?.() !== 0 ? 'Linux and root only' : false

test('the image is small, without shell or npm, serves as an unprivileged user and stops', {
  skip,
}, async t => {
  const cleanup = new Cleanup(t)
  const folder = scratch(cleanup)
  const context = join(folder, 'context')
  mkdirSync(context)
  const file = join(RELEASE, `plimsoll-${VERSION}-image.tar.gz`)
  execFileSync('tar', ['-xzf', file, '-C', context])
  const TARGETARCH = process.arch === 'x64' ? 'amd64' : process.arch
  const stages = parseDockerfile(readFileSync(join(checkout, 'Dockerfile'), 'utf8'), { TARGETARCH })
  // As BuildKit does, only what the last stage needs; this machine stands for Debian.
  const folders = new Map([['debian', '/']])
  const build = (stage: Stage | undefined): string => {
    assert.ok(stage)
    const at = mkdtempSync(join(folder, 'stage-'))
    chmodSync(at, 0o755)
    if (stage.base !== 'scratch') execFileSync('cp', ['-aT', folderOf(stage.base), at])
    for (const { name, words } of stage.instructions)
      if (name === 'WORKDIR') mkdirSync(join(at, words), { recursive: true })
      else if (name === 'ADD' || name === 'COPY') copy(name, words, at, context, folderOf)
    return at
  }
  const folderOf = (name: string): string => {
    const made = folders.get(name) ?? build(stages.find(stage => stage.name === name))
    folders.set(name, made)
    return made
  }
  const final = stages.at(-1)
  assert.ok(final)
  const image = build(final)
  for (const name of ['bin/sh', 'usr/bin/sh', 'usr/bin/env', 'usr/bin/npm'])
    assert.equal(existsSync(join(image, name)), false, name)
  const bytes = Number(execFileSync('du', ['-sb', image]).toString().split('\t')[0])
  t.diagnostic(`the image has ${(bytes / 1e6).toFixed(1)} MB`)
  assert.ok(bytes <= IMAGE_BYTES_MAX)
  await useAsContainer(cleanup, final, image)
})

/** Copies as Docker does: what is in a folder, and a file under its name; `ADD` unpacks an archive. */
function copy(
  name: string,
  words: string,
  at: string,
  context: string,
  folderOf: (stage: string) => string,
): void {
  const flags = new Map([...words.matchAll(/--(\w+)=(\S+)/g)].map(([, key, value]) => [key, value]))
  const [target = '', ...paths] = words
    .split(' ')
    .filter(word => !word.startsWith('--'))
    .reverse()
  const from = flags.get('from')
  const source = from === undefined ? context : folderOf(from)
  const to = join(at, target)
  const owner = flags.get('chown') ?? '0:0'
  const script =
    name === 'ADD'
      ? 'tar -xzf $1 -C "$2"'
      : 'for each in $1; do [ -d "$each" ] && each="$each/."; cp -r --preserve=mode,links "$each" "$2"; done'
  for (const path of paths) {
    // Made anew, so that only what is copied gets the owner.
    const fresh = mkdtempSync(`${at}-`)
    const pattern = join(source, path).replaceAll(' ', '?')
    execFileSync('sh', ['-ec', script, 'sh', pattern, fresh])
    execFileSync('chown', ['-R', owner, fresh])
    mkdirSync(to, { recursive: true })
    execFileSync('sh', ['-ec', 'cp -a "$1"/* "$2"; rm -r "$1"', 'sh', fresh, to])
  }
}

/** Starts the command as a container of a read-only image, checks, publishes, and stops it. */
async function useAsContainer(cleanup: Cleanup, final: Stage, image: string): Promise<void> {
  const [uid = 0, gid = 0] = lastOf(final, 'USER').split(':').map(Number)
  const data = scratch(cleanup)
  const owned = statSync(join(image, 'data'))
  assert.deepEqual([owned.uid, owned.gid], [uid, gid])
  chownSync(data, uid, gid)
  // The port of the image may be taken on this machine.
  const listen = `127.0.0.1:${await freePort()}`
  const confinement: Confinement = {
    cwd: lastOf(final, 'WORKDIR'),
    env: { ...variables(final), PLIMSOLL_LISTEN: listen },
    mounts: { data },
    user: lastOf(final, 'USER'),
  }
  const entry = execForm(lastOf(final, 'ENTRYPOINT'))
  const daemon = enter(image, [...entry, ...execForm(lastOf(final, 'CMD'))], confinement)
  cleanup.add(() => void daemon.kill('SIGKILL'))
  const { said, ended } = watch(daemon)
  await until(() => said().includes('listening on') || daemon.exitCode !== null, said)
  assert.equal(daemon.exitCode, null, said())
  const pid = insideOf(daemon)
  assert.ok(readlinkSync(`/proc/${pid}/exe`).endsWith('/opt/plimsoll/node'))
  assert.match(readFileSync(`/proc/${pid}/status`, 'utf8'), new RegExp(`^Uid:\\t${uid}\\t`, 'm'))

  const endOf = async (...argv: string[]) => {
    const { said, ended } = watch(enter(image, argv, confinement))
    return [await ended, said()]
  }
  const health = execForm(lastOf(final, 'HEALTHCHECK'))
  assert.deepEqual(await endOf(...health), [0, 'ok\n'])
  const [code, complaint] = await endOf(...health, '--listen', '127.0.0.1:1')
  assert.deepEqual([code, /ECONNREFUSED/.test(String(complaint))], [1, true])
  const write = `const { writeFileSync: write } = require('node:fs')
    for (const place of ['/tmp', '/data']) write(place + '/new', '')
    try { write('/new', '') } catch ({ code }) { console.log(code) }`
  assert.deepEqual(await endOf('/opt/plimsoll/node', '-e', write), [0, 'EROFS\n'])
  const [, version] = await endOf('plimsoll', '--version')
  assert.match(String(version), new RegExp(`^${VERSION} \\(.*; container image, Node `))

  const authorization = /plim_\w+/.exec(said())?.[0] ?? ''
  const base = `http://${listen}`
  const demo = { name: 'demo', version: '1.0.0' }
  const answer = await (await publishTo(base, authorization, demo)).json()
  assert.equal('errors' in (answer as object), false, JSON.stringify(answer))
  assert.match(await (await fetch(`${base}/index/de/mo/demo`)).text(), /"vers":"1\.0\.0"/)
  await until(
    async () => (await fetch(`${base}/crates/demo/`)).status === 200,
    () => `no page of the crate:\n${said()}`,
  )

  const began = process.hrtime.bigint()
  process.kill(pid, 'SIGTERM')
  assert.equal(await ended, 0, said())
  assert.ok(Number(process.hrtime.bigint() - began) / 1e6 < STOP_MS)
  assert.equal((await endOf('plimsoll', 'verify'))[0], 0)
}
