import assert from 'node:assert/strict'
import { cp, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { GitIndex } from '../../../generator/git/git-index.ts'
import {
  findEngine,
  openIndexRepository,
} from '../../../generator/git/index-repository/repository.ts'
import {
  endImporters,
  fresh,
  git,
  info,
  nodegit,
  paths,
  put,
  refusal,
  root,
  run,
} from '../../support/index-repository.ts'
import { addCrate, newRegistry } from '../../support/workplace.ts'

/** Registers a test where both engines are installed; the contract suite says when they are not. */
const bothEngines = nodegit ? test : () => undefined

bothEngines('every engine makes the same commits of the same changes', async () => {
  const heads = await Promise.all(
    (['git', 'nodegit'] as const).map(async engine => {
      const repository = await openIndexRepository({ path: fresh(), engine })
      const files = [put('1/a'), put('ca/rg/cargo'), put('ca/rg-x/b')]
      await repository.commit(files, info('no line end'))
      const changes = [put('ca/rg/cargo', 'x'), { path: '1/a', bytes: null }]
      await repository.commit(changes, info('# hash\n\n\n'))
      const head = await repository.head()
      await repository.close()
      return head
    }),
  )
  assert.equal(heads[0], heads[1])
})

bothEngines('one engine goes on where the other stopped', async () => {
  const path = fresh()
  for (let i = 0; i < 6; i++) {
    const repository = await openIndexRepository({ path, engine: i % 2 ? 'git' : 'nodegit' })
    await repository.commit([put('1/a', `${i}`)], info())
    if (i === 3) await git(path, 'repack', '-adq', '--write-midx')
    await repository.close()
  }
  assert.equal(await git(path, 'rev-list', '--count', 'HEAD'), '6')
  await git(path, 'fsck', '--strict')
})

test('two open repositories see each other’s commits and packing', async () => {
  const path = fresh()
  const engines = nodegit ? (['nodegit', 'git'] as const) : (['git', 'git'] as const)
  const [first, second] = [
    await openIndexRepository({ path, engine: engines[0] }),
    await openIndexRepository({ path, engine: engines[1] }),
  ]
  for (let i = 0; i < 60; i++) {
    const [writer, reader] = i % 2 ? [first, second] : [second, first]
    const last = { message: '', time: new Date(0) }
    const id = await writer.commit([put('ca/rg/cargo', `${i}`)], last)
    assert.equal(await reader.head(), id)
    assert.ok((await paths(reader)).includes('ca/rg/cargo'))
    if (i % 7 === 0) await git(path, 'repack', '-adq')
    if (i % 20 === 0) await second.maintain()
  }
  await first.close()
  await second.close()
  assert.equal(await git(path, 'log', '-1', '--format=%at'), '0')
  await git(path, 'fsck', '--strict')
})

test('`auto` takes nodegit when it is there, else git', async () => {
  assert.equal((await findEngine({})).name, nodegit ? 'nodegit' : 'git')
})

test('a commit during which git dies fails, and the next one is made', async () => {
  const [dying, dies] = [join(root, 'dying-git'), join(root, 'dies')]
  const death = `{ head -c 100 > ${join(root, 'read')}; exit 1; }`
  const script = `case "$*" in *fast-import*) [ ! -e ${dies} ] || ${death} ;; esac\nexec git "$@"`
  await writeFile(dying, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  const options = { path: fresh(), engine: 'git', gitCommand: dying } as const
  const repository = await openIndexRepository(options)
  await writeFile(dies, '')
  // More than a pipe takes at once: much is still to be written.
  const large = put('1/a', 'x'.repeat(2 ** 20))
  await assert.rejects(repository.commit([large], info()), refusal('git_failed'))
  await rm(dies)
  assert.ok(await repository.commit([large], info()))
  await repository.close()
})

test('says what is missing when there is no engine', async () => {
  const missing = { path: fresh(), engine: 'git', gitCommand: '/nonexistent/git' } as const
  await assert.rejects(openIndexRepository(missing), refusal('git_engine_missing'))
  const old = join(root, 'old-git')
  await writeFile(old, '#!/bin/sh\necho git version 2.30.2\n', { mode: 0o755 })
  await assert.rejects(openIndexRepository({ ...missing, gitCommand: old }), refusal('git_too_old'))
  if (!nodegit)
    await assert.rejects(
      openIndexRepository({ path: fresh(), engine: 'nodegit' }),
      refusal('git_nodegit_missing'),
    )
})

test('leaves a folder alone that is something else', async () => {
  const occupied = fresh()
  await mkdir(occupied)
  await writeFile(join(occupied, 'notes.txt'), '')
  await assert.rejects(openIndexRepository({ path: occupied }), refusal('git_index_occupied'))
  const checkout = fresh()
  await run('git', ['init', '-q', checkout])
  await assert.rejects(openIndexRepository({ path: checkout }), refusal('git_index_occupied'))
  const sha256 = fresh()
  await run('git', ['init', '-q', '--bare', '--object-format=sha256', sha256])
  await assert.rejects(openIndexRepository({ path: sha256 }), refusal('git_index_format'))
  const detached = fresh()
  await run('git', ['init', '-q', '--bare', detached])
  await writeFile(join(detached, 'HEAD'), `${'0'.repeat(40)}\n`)
  await assert.rejects(openIndexRepository({ path: detached }), refusal('git_index_format'))
})

test('a creation that was killed half-way is finished', async () => {
  const whole = fresh()
  await (await openIndexRepository({ path: whole, engine: 'git' })).close()
  const half = fresh()
  await cp(whole, half, { recursive: true })
  await rm(join(half, 'HEAD'))
  const repository = await openIndexRepository({ path: half, engine: 'git' })
  assert.ok(await repository.commit([put('1/a')], info()))
  await repository.close()
})

test('settings and variables of the user change nothing', async () => {
  const path = fresh()
  const before = { ...process.env }
  process.env.GIT_DIR = '/nonexistent'
  process.env.GIT_AUTHOR_NAME = 'someone else'
  process.env.GIT_OBJECT_DIRECTORY = '/nonexistent'
  try {
    const repository = await openIndexRepository({ path, engine: 'git' })
    assert.ok(await repository.commit([put('1/a')], info()))
    await repository.close()
  } finally {
    process.env = before
  }
  assert.equal(await git(path, 'log', '--format=%an'), 'Plimsoll')
})

test('an index that is up to date starts no program', async t => {
  const registry = await newRegistry(t)
  await addCrate(registry, { name: 'demo', version: '1.0.0' })
  // nodegit needs no program.
  const git = { ...registry.settings.git, engine: 'git' as const }
  const index = await GitIndex.open({ ...registry, settings: { ...registry.settings, git } })
  t.after(() => index?.close())
  const { PATH } = process.env
  t.after(() => {
    process.env.PATH = PATH
  })
  assert.equal(await index?.commit(), 1)
  await endImporters()
  process.env.PATH = ''
  assert.equal(await index?.commit(), 0)
  await addCrate(registry, { name: 'demo', version: '1.0.1' })
  await assert.rejects(async () => index?.commit(), 'a change needs git')
  process.env.PATH = PATH
  assert.equal(await index?.commit(), 1)
})
