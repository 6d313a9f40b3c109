import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import type { Refusal } from '../../../core/error/error.ts'
import { checkRemote } from '../../../generator/git/index-repository/git-process.ts'
import type { IndexRepository } from '../../../generator/git/index-repository/repository.ts'
import { openIndexRepository } from '../../../generator/git/index-repository/repository.ts'
import { type PushOptions, Remote } from '../../../generator/git/push.ts'
import { isAlive } from '../../support/alive.ts'
import { refusedWith } from '../../support/refusal.ts'
import { until } from '../../support/until.ts'

const run = promisify(execFile)
let root = ''
let path = ''
let repository: IndexRepository
let serial = 0

before(async () => {
  root = await mkdtemp(join(tmpdir(), 'plimsoll-push-'))
  path = join(root, 'index.git')
  repository = await openIndexRepository({ path, engine: 'git' })
})
after(async () => {
  await repository.close()
  await rm(root, { recursive: true, force: true })
})

const commit = async (): Promise<string | null> =>
  await repository.commit([{ path: '1/a', bytes: Buffer.from(`${serial++}`) }], {
    message: 'x\n',
    time: new Date(),
  })

async function remote(): Promise<string> {
  const at = join(root, `remote${serial++}.git`)
  await run('git', ['init', '-q', '--bare', '-b', 'master', at])
  return at
}

const headOf = async (at: string): Promise<string> =>
  (await run('git', ['--git-dir', at, 'rev-parse', 'HEAD'])).stdout.trim()

/** Pushes to remotes, and what goes wrong with them. */
function pushTo(remotes: readonly string[], more: Partial<PushOptions> = {}) {
  const told: Refusal[] = []
  const onFailure = (failure: Refusal) => void told.push(failure)
  const pauses = { firstPauseMs: 50, lastPauseMs: 200 }
  const options = { path, onFailure, ...pauses, ...more }
  const all = remotes.map(remote => new Remote(remote, options))
  const request = () => all.forEach(remote => void remote.request())
  const close = () => Promise.all(all.map(remote => remote.close()))
  return { told, push: { request, close } }
}

const failed = (told: readonly Refusal[], times: number): Promise<void> =>
  until(
    () => told.length >= times,
    () => `${told.length} pushes failed`,
  )

const arrived = (at: string, head: string | null): Promise<void> =>
  until(async () => (await headOf(at).catch(() => null)) === head, `${head} did not arrive`)

test('an empty index is nothing to push', async () => {
  const { told, push } = pushTo([await remote()])
  push.request()
  await push.close()
  assert.deepEqual(told, [])
})

test('every remote gets the head, and requests made meanwhile go with the next push', async () => {
  const remotes = [await remote(), `file://${await remote()}`]
  await commit()
  const { told, push } = pushTo(remotes)
  push.request()
  const last = await commit()
  for (let i = 0; i < 10; i++) push.request()
  for (const at of remotes) await arrived(at.replace('file://', ''), last)
  await push.close()
  assert.deepEqual(told, [])
})

test('a remote that is away is tried again until it is back; the others do not wait', async () => {
  const [away, here] = [await remote(), await remote()]
  await rename(away, `${away}.away`)
  const { told, push } = pushTo([away, here])
  const head = await commit()
  push.request()
  await arrived(here, head)
  await failed(told, 3)
  assert.ok(told.every(codes => codes.has('git_push_failed')))
  assert.match(told[0]?.message ?? '', /does not appear to be a git repository/)
  await rename(`${away}.away`, away)
  await arrived(away, head)
  await push.close()
})

test('a remote with commits of its own is never overwritten, and the error says what to do', async () => {
  const at = await remote()
  const other = await openIndexRepository({ path: join(root, 'other.git'), engine: 'git' })
  const theirs = await other.commit([{ path: '1/b', bytes: Buffer.from('b') }], {
    message: 'b\n',
    time: new Date(),
  })
  await run('git', ['--git-dir', join(root, 'other.git'), 'push', '-q', at, 'master'])
  await commit()
  const { told, push } = pushTo([at])
  push.request()
  await failed(told, 1)
  assert.ok(told[0]?.has('git_push_diverged'))
  assert.match(told[0]?.message ?? '', /git push --force/)
  assert.equal(await headOf(at), theirs)
  await push.close()
  await other.close()
})

test('secrets of a URL are never told', async () => {
  const { told, push } = pushTo(['http://user:sesame@127.0.0.1:9/index.git'])
  push.request()
  await failed(told, 1)
  assert.match(told.join(), /127\.0\.0\.1:9/)
  assert.doesNotMatch(told.join(), /sesame|user/)
  await push.close()
})

test('close stops trying and ends what runs', async () => {
  const never = [join(root, 'never.git')]
  const [{ told, push }, other] = [pushTo(never), pushTo(never)]
  push.request()
  await push.close()
  const failures = told.length
  // Another one that goes on trying shows that there was time to.
  other.push.request()
  await failed(other.told, 3)
  await other.push.close()
  push.request()
  await push.close()
  assert.equal(told.length, failures)
})

test('close waits some seconds for a push and leaves it then, with all that git has started', async () => {
  const slow = join(root, 'slow-git')
  const log = join(root, 'slow-notes')
  // Like a git that waits for its ssh: the one that waits for the network is not the one we have started.
  await writeFile(slow, `#!/bin/sh\nsleep 3600 &\necho $! > ${log}\nwait\n`, { mode: 0o755 })
  await commit()
  const { told, push } = pushTo(['ssh://git@h/i.git'], { gitCommand: slow, closeMs: 300 })
  push.request()
  await until(
    async () => (await readFile(log, 'utf8').catch(() => '')) !== '',
    'git was not started',
  )
  await push.close()
  assert.match(
    told[0]?.message ?? '',
    /^the git index was not pushed to `ssh:\/\/git@h\/i\.git` within 0\.3 seconds; .*left to/,
  )
  const waiting = Number(await readFile(log, 'utf8'))
  await until(() => !isAlive(waiting), 'what git has started still runs')
})

test('what git would take for an option or a program is no remote', () => {
  for (const bad of ['', '--upload-pack=evil', '-o', 'ext::sh -c evil', 'ext::sh', 'a b', 'x\ny'])
    assert.throws(() => checkRemote(bad), refusedWith('git_remote_invalid'), bad)
  const remotes = ['https://h/i.git', 'ssh://git@h/i.git', 'git@h:team/i.git']
  for (const good of [...remotes, '/srv/i.git', '../i.git', 'file:///i.git'])
    assert.equal(checkRemote(good), good)
})
