import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { Refusal } from '../../../core/error/error.ts'
import type { IndexRepository } from '../../../generator/git/index-repository/repository.ts'
import { openIndexRepository } from '../../../generator/git/index-repository/repository.ts'
import { checkRemote, IndexPush, type PushState } from '../../../generator/git/push.ts'
import { isAlive } from '../../support/alive.ts'
import { until } from '../../support/until.ts'

const run = promisify(execFile)
const pauses = { firstPauseMs: 50, lastPauseMs: 200 }
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

/** Waits until the states of all remotes are as `isSo` says. */
const seen = (push: IndexPush, isSo: (state: PushState) => boolean): Promise<void> =>
  until(
    () => push.states().every(isSo),
    () => JSON.stringify(push.states()),
  )

test('an empty index is nothing to push', async () => {
  const push = new IndexPush([await remote()], { path })
  push.request()
  await push.close()
  assert.deepEqual(push.states()[0], { pushed: null, failures: 0, error: null })
})

test('every remote gets the head, and requests made meanwhile go with the next push', async () => {
  const remotes = [await remote(), `file://${await remote()}`]
  await commit()
  const push = new IndexPush(remotes, { path, ...pauses })
  push.request()
  const last = await commit()
  for (let i = 0; i < 10; i++) push.request()
  await seen(push, one => one.pushed === last)
  for (const [i, at] of remotes.entries()) {
    assert.equal(await headOf(at.replace('file://', '')), last)
    assert.equal(push.states()[i]?.failures, 0)
  }
  await push.close()
})

test('a remote that is away is tried again until it is back; the others do not wait', async () => {
  const [away, here] = [await remote(), await remote()]
  await rename(away, `${away}.away`)
  const push = new IndexPush([away, here], { path, ...pauses })
  const head = await commit()
  push.request()
  await seen(push, one => one.pushed === head || one.failures > 0)
  assert.equal(await headOf(here), head)
  assert.equal(push.states()[0]?.error?.code, 'git_push_failed')
  assert.match(push.states()[0]?.error?.message ?? '', /does not appear to be a git repository/)
  await seen(push, one => one.failures >= 3 || one.pushed === head)
  await rename(`${away}.away`, away)
  await seen(push, one => one.pushed === head)
  assert.equal(push.states()[0]?.error, null)
  assert.equal(await headOf(away), head)
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
  const push = new IndexPush([at], { path, ...pauses })
  push.request()
  await seen(push, one => one.failures > 0)
  assert.equal(push.states()[0]?.error?.code, 'git_push_diverged')
  assert.match(push.states()[0]?.error?.message ?? '', /git push --force/)
  assert.equal(await headOf(at), theirs)
  await push.close()
  await other.close()
})

test('secrets of a URL are never told', async () => {
  const push = new IndexPush(['http://user:sesame@127.0.0.1:9/index.git'], { path, ...pauses })
  push.request()
  await seen(push, one => one.failures > 0)
  const told = JSON.stringify(push.states())
  assert.match(told, /127\.0\.0\.1:9/)
  assert.doesNotMatch(told, /sesame|user/)
  await push.close()
})

test('close stops trying and ends what runs', async () => {
  const push = new IndexPush([join(root, 'never.git')], { path, ...pauses })
  push.request()
  await push.close()
  const { failures } = push.states()[0] ?? {}
  // Another one that goes on trying shows that there was time to.
  const other = new IndexPush([join(root, 'never.git')], { path, ...pauses })
  other.request()
  await until(
    () => (other.states()[0]?.failures ?? 0) > 2,
    () => 'a push that fails is not tried again',
  )
  await other.close()
  assert.equal(push.states()[0]?.failures, failures)
  push.request()
  await push.close()
  assert.equal(push.states()[0]?.failures, failures)
})

test('close waits some seconds for a push and leaves it then, with all that git has started', async () => {
  const slow = join(root, 'slow-git')
  const notes = join(root, 'slow-notes')
  // Like a git that waits for its ssh: the one that waits for the network is not the one we have started.
  await writeFile(slow, `#!/bin/sh\nsleep 3600 &\necho $! > ${notes}\nwait\n`, { mode: 0o755 })
  await commit()
  const told: string[] = []
  const onFailure = (failure: Refusal) => told.push(failure.message)
  const push = new IndexPush(['ssh://git@h/i.git'], {
    path,
    gitCommand: slow,
    closeMs: 300,
    onFailure,
    ...pauses,
  })
  push.request()
  await until(
    async () => (await readFile(notes, 'utf8').catch(() => '')) !== '',
    () => 'git was not started',
  )
  await push.close()
  assert.match(
    told.join(),
    /^the git index was not pushed to `ssh:\/\/git@h\/i\.git` within 0\.3 seconds; .*left to/,
  )
  const waiting = Number(await readFile(notes, 'utf8'))
  await until(
    () => !isAlive(waiting),
    () => 'what git has started still runs',
  )
})

test('what git would take for an option or a program is no remote', () => {
  for (const bad of ['', '--upload-pack=evil', '-o', 'ext::sh -c evil', 'ext::sh', 'a b', 'x\ny'])
    assert.throws(
      () => checkRemote(bad),
      (error: unknown) => error instanceof Refusal && error.has('git_remote_invalid'),
      bad,
    )
  for (const good of [
    'https://h/i.git',
    'ssh://git@h/i.git',
    'git@h:team/i.git',
    '/srv/i.git',
    '../i.git',
    'file:///i.git',
  ])
    assert.equal(checkRemote(good), good)
})
