// `npm run check:deploy`: does what the Dockerfile says in folders that stand for its stages, with
// this machine's system instead of the base images, and uses the result as a container would.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chownSync, cpSync, mkdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { test } from 'node:test'
import { Cleanup } from '../support/cleanup.ts'
import { watch } from '../support/command.ts'
import {
  execForm,
  type Instruction,
  lastOf,
  parseDockerfile,
  type Stage,
  variables,
} from '../support/dockerfile.ts'
import { type Confinement, enter, insideOf, npmAccess } from '../support/folder-root.ts'
import { root as checkout } from '../support/plimsoll.ts'
import { publishTo } from '../support/release.ts'
import { scratch } from '../support/scratch.ts'
import { until } from '../support/until.ts'

/** Unpacked size of `debian:bookworm-slim` for amd64, rounded up: 74.8 MB. */
const BASE_BYTES = 75e6
const IMAGE_BYTES_MAX = 200e6
/** The default of `docker stop` is 10 s; compose.yaml and the chart give more. */
const STOP_MS = 10_000

const skip =
  process.platform !== 'linux' || process.getuid?.() !== 0 ? 'Linux and root only' : false

test('the image builds, is small, serves as an unprivileged user and stops', { skip }, async t => {
  const cleanup = new Cleanup(t)
  const folder = scratch(cleanup)
  const [build, final] = parseDockerfile(readFileSync(join(checkout, 'Dockerfile'), 'utf8'))
  assert.ok(build && final)
  const roots = new Map([[build.name, join(folder, 'build')]])
  const image = join(folder, 'final')

  const node = join(folder, 'build', 'usr', 'local', 'bin', 'node')
  mkdirSync(dirname(node), { recursive: true })
  cpSync(process.execPath, node)
  await perform(t, build, join(folder, 'build'), roots)
  mkdirSync(image)
  await perform(t, final, image, roots)

  const bytes = bytesOf(image)
  t.diagnostic(`layers ${megabytes(bytes)}, with the base ${megabytes(bytes + BASE_BYTES)}`)
  assert.ok(bytes + BASE_BYTES <= IMAGE_BYTES_MAX)
  await useAsContainer(cleanup, final, image)
})

/** Starts the command as a container of a read-only image, checks, publishes, and stops it. */
async function useAsContainer(cleanup: Cleanup, final: Stage, image: string): Promise<void> {
  const [uid = 0, gid = 0] = lastOf(final, 'USER').split(':').map(Number)
  const data = scratch(cleanup)
  const owned = statSync(join(image, 'data'))
  assert.deepEqual([owned.uid, owned.gid], [uid, gid])
  chownSync(data, uid, gid)
  const confinement: Confinement = {
    cwd: lastOf(final, 'WORKDIR'),
    // The port of the image may be taken on this machine.
    env: { ...variables(final), PLIMSOLL_LISTEN: '127.0.0.1:8099' },
    mounts: { data },
    isReadOnly: true,
    user: lastOf(final, 'USER'),
  }
  const command = [...execForm(lastOf(final, 'ENTRYPOINT')), ...execForm(lastOf(final, 'CMD'))]
  const daemon = enter(image, command, confinement)
  cleanup.add(() => void daemon.kill('SIGKILL'))
  const { said, ended } = watch(daemon)
  await until(() => said().includes('listening on') || daemon.exitCode !== null, said)
  assert.equal(daemon.exitCode, null, said())
  const pid = insideOf(daemon)
  assert.equal(readlinkSync(`/proc/${pid}/exe`).endsWith('/usr/local/bin/node'), true)
  assert.match(readFileSync(`/proc/${pid}/status`, 'utf8'), new RegExp(`^Uid:\\t${uid}\\t`, 'm'))

  const endOf = (...argv: string[]) => watch(enter(image, argv, confinement)).ended
  const health = execForm(lastOf(final, 'HEALTHCHECK')).map(word => word.replace('8080', '8099'))
  assert.equal(await endOf(...health), 0)
  const nobody = health.map(word => word.replace('8099', '1'))
  assert.equal(await endOf(...nobody), 1)
  const write = 'touch /tmp/new /data/new && ! touch /new 2>/dev/null'
  assert.equal(await endOf('sh', '-c', write), 0)

  const authorization = /plim_\w+/.exec(said())?.[0] ?? ''
  const base = 'http://127.0.0.1:8099'
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
  assert.equal(await endOf('plimsoll', 'verify'), 0)
}

/** Does what a stage says in the folder that stands for it. */
async function perform(
  t: { diagnostic(message: string): void },
  stage: Stage,
  root: string,
  roots: ReadonlyMap<string | null, string>,
): Promise<void> {
  let cwd = '/'
  for (const { name, words: text } of stage.instructions) {
    if (name === 'WORKDIR') cwd = text
    if (name === 'WORKDIR') mkdirSync(join(root, text), { recursive: true })
    if (name === 'COPY') copy({ name, words: text }, root, cwd, roots)
    if (name !== 'RUN') continue
    t.diagnostic(`RUN ${text}`)
    const { env, mounts } = npmAccess()
    const { said, ended } = watch(enter(root, ['sh', '-c', text], { cwd, env, mounts }))
    assert.equal(await ended, 0, said())
  }
}

function copy(
  { words }: Instruction,
  root: string,
  cwd: string,
  roots: ReadonlyMap<string | null, string>,
): void {
  const flags = new Map([...words.matchAll(/--(\w+)=(\S+)/g)].map(([, key, value]) => [key, value]))
  const paths = words.split(' ').filter(word => !word.startsWith('--'))
  const target = paths.pop() ?? ''
  const from = flags.get('from')
  const source = from === undefined ? checkout : roots.get(from)
  assert.ok(source, `there is no stage ${from}`)
  const to = join(root, target.startsWith('/') ? target : join(cwd, target))
  for (const path of paths) copyOne(source, path, to, from === undefined, flags.get('chown'))
}

/** Docker copies what is in a folder, and a file under its name. */
function copyOne(source: string, path: string, to: string, isContext: boolean, owner?: string) {
  const from = join(source, path)
  const target = statSync(from).isDirectory() ? to : join(to, path)
  const ignored = isContext ? ignoredNames() : []
  cpSync(from, target, {
    recursive: true,
    verbatimSymlinks: true,
    filter: file => !ignored.some(pattern => isIgnored(relative(checkout, file), pattern)),
  })
  if (owner === undefined) return
  const copied = execFileSync('find', ['-mindepth', '1', '-printf', '%P\\0'], { cwd: from })
  for (const name of copied.toString().split('\0').filter(Boolean)) {
    const [uid = 0, gid = 0] = owner.split(':').map(Number)
    chownSync(join(to, name), uid, gid)
  }
}

/** Patterns are paths, or `*.ending` for files at the top. */
function isIgnored(path: string, pattern: string): boolean {
  if (!pattern.startsWith('*')) return path === pattern
  return !path.includes('/') && path.endsWith(pattern.slice(1))
}

function ignoredNames(): string[] {
  const lines = readFileSync(join(checkout, '.dockerignore'), 'utf8').split('\n')
  return lines.filter(line => line !== '' && !line.startsWith('#'))
}

/** The bytes of all files below a folder. */
function bytesOf(folder: string): number {
  const sizes = execFileSync('find', [folder, '-type', 'f', '-printf', '%s\\n'])
  return sizes
    .toString()
    .trim()
    .split('\n')
    .reduce((sum, size) => sum + Number(size), 0)
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`
}
