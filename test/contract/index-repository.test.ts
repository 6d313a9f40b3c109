import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Refusal } from '../../generator/error.ts'
import { loadNodegit } from '../../generator/index-repository/nodegit-module.ts'
import { openIndexRepository } from '../../generator/index-repository/open.ts'
import type { CommitInfo, IndexChange, IndexRepository } from '../../generator/index-repository/repository.ts'

const run = promisify(execFile)
const here = dirname(fileURLToPath(import.meta.url))
let root = ''
let serial = 0

before(async () => {
  root = await mkdtemp(join(tmpdir(), 'plimsoll-git-'))
})
after(() => rm(root, { recursive: true, force: true }))

const fresh = (): string => join(root, `${serial++}`)
const git = async (path: string, ...args: string[]): Promise<string> =>
  (await run('git', ['--git-dir', path, ...args], { maxBuffer: 1 << 26 })).stdout.trim()
const put = (path: string, text = `{"name":"${path}"}\n`): IndexChange => ({ path, bytes: Buffer.from(text) })
const info = (message = 'Publish cargo 1.0.0 (by admin)\n'): CommitInfo => ({
  message,
  time: new Date('2026-11-20T12:00:00.750Z'),
})
const refusal = (code: string) => (error: unknown) =>
  error instanceof Refusal && error.issues.some(issue => issue.code === code)
const paths = async (repository: IndexRepository): Promise<string[]> => {
  const found: string[] = []
  for await (const { path } of repository.list()) found.push(path)
  return found
}

const nodegit = await loadNodegit().then(
  () => true,
  () => false,
)
const engines = nodegit ? (['git', 'nodegit'] as const) : (['git'] as const)
if (process.env.PLIMSOLL_REQUIRE_NODEGIT === '1') {
  test('nodegit is installed, as PLIMSOLL_REQUIRE_NODEGIT=1 asks', () =>
    assert.ok(nodegit, 'run npm run setup:nodegit'))
}
if (!nodegit) test('the engine nodegit', { skip: 'nodegit is not installed; npm run setup:nodegit compiles it' })

for (const engine of engines) {
  describe(`index repository, engine ${engine}`, () => {
    const open = (path: string): Promise<IndexRepository> => openIndexRepository({ path, engine })

    test('a new repository is bare, valid and empty', async () => {
      const path = fresh()
      const repository = await open(path)
      assert.equal(repository.engine, engine)
      assert.equal(await repository.head(), null)
      assert.equal(await repository.read('config.json'), null)
      assert.deepEqual(await paths(repository), [])
      assert.equal(await git(path, 'rev-parse', '--is-bare-repository'), 'true')
      await git(path, 'fsck', '--strict')
      await repository.close()
    })

    test('a commit holds the bytes of every tier, its message, author and time', async () => {
      const path = fresh()
      const repository = await open(path)
      const all = ['1/a', '2/ab', '3/a/abc', 'ca/rg/cargo', 'ca/rg/cargo-1_x', 'config.json']
      const author = { name: 'alice', email: 'alice@example.org' }
      const id = await repository.commit(
        [...all].reverse().map(one => put(one)),
        { ...info(), author },
      )
      assert.match(id ?? '', /^[0-9a-f]{40}$/)
      assert.equal(await repository.head(), id)
      assert.deepEqual(await paths(repository), all)
      assert.deepEqual(Buffer.from((await repository.read('3/a/abc')) ?? []).toString(), '{"name":"3/a/abc"}\n')
      assert.equal(await repository.read('3/a'), null)
      assert.equal(await repository.read('3/b/abc'), null)
      assert.equal(
        await git(path, 'log', '--format=%H|%an|%ae|%aI|%cn|%cI|%B'),
        `${id}|alice|alice@example.org|2026-11-20T12:00:00+00:00|Plimsoll|2026-11-20T12:00:00+00:00|Publish cargo 1.0.0 (by admin)`,
      )
      assert.equal(await git(path, 'symbolic-ref', 'HEAD'), 'refs/heads/master')
      await git(path, 'fsck', '--strict')
      await repository.close()
    })

    test('what does not differ makes no commit, and what is removed goes with its empty folders', async () => {
      const path = fresh()
      const repository = await open(path)
      assert.equal(await repository.commit([], info()), null)
      assert.equal(await repository.commit([{ path: '1/a', bytes: null }], info()), null)
      const first = await repository.commit([put('1/a'), put('ca/rg/cargo')], info())
      assert.equal(await repository.commit([put('1/a'), { path: '1/b', bytes: null }], info()), null)
      assert.equal(await repository.head(), first)
      const second = await repository.commit([put('1/a'), { path: 'ca/rg/cargo', bytes: null }, put('1/c')], info())
      assert.deepEqual(await paths(repository), ['1/a', '1/c'])
      assert.equal(await git(path, 'rev-parse', 'HEAD~1'), first)
      assert.equal(
        await git(path, 'diff-tree', '--name-status', '-r', `${second}`, '--'),
        `${second}\nA\t1/c\nD\tca/rg/cargo`,
      )
      await repository.commit(
        [
          { path: '1/a', bytes: null },
          { path: '1/c', bytes: null },
        ],
        info(),
      )
      assert.deepEqual(await paths(repository), [])
      assert.equal((await repository.commit([put('1/a')], info())) === null, false)
      await git(path, 'fsck', '--strict')
      await repository.close()
    })

    test('a path that is not lowercase and plain is refused, and so is one named twice', async () => {
      const repository = await open(fresh())
      for (const path of ['Ca/rg/Cargo', '../x', 'a/../b', '.git/config', '/a', 'a//b', 'a/', '', 'a b', 'a\nD b', 'ü'])
        await assert.rejects(repository.commit([put(path)], info()), refusal('git_path_invalid'), path)
      await assert.rejects(repository.commit([put('1/a'), put('1/a', 'x')], info()), refusal('git_path_twice'))
      await assert.rejects(repository.read('../config'), refusal('git_path_invalid'))
      assert.equal(await repository.head(), null)
      await repository.close()
    })

    test('names and messages cannot break out of their place', async () => {
      const path = fresh()
      const repository = await open(path)
      const author = { name: '.Eve <x>\nM 100644 inline evil\ndata 1\nx', email: 'a>b\u0000c' }
      const message = 'Grüße 🚢\n\nfrom refs/heads/x\ndata 5\n'
      await repository.commit([put('1/a')], { ...info(message), author })
      assert.deepEqual(await paths(repository), ['1/a'])
      assert.equal(await git(path, 'log', '--format=%an|%ae'), 'Eve x M 100644 inline evil data 1 x|a b c')
      assert.equal(await git(path, 'log', '--format=%B'), message.trim())
      await repository.commit([put('1/a', '')], { ...info(''), author: { name: ' ', email: '' } })
      assert.equal(await git(path, 'log', '-1', '--format=%an|%ae|%B'), 'unknown|unknown|')
      assert.equal((await repository.read('1/a'))?.length, 0)
      await git(path, 'fsck', '--strict')
      await repository.close()
    })

    test('history goes on after a restart, on whatever branch HEAD names, packed refs included', async () => {
      const path = fresh()
      await run('git', ['init', '-q', '--bare', '-b', 'main', path])
      const first = await open(path)
      const id = await first.commit([put('1/a')], info('One\n'))
      await first.close()
      await assert.rejects(first.commit([put('1/b')], info()), refusal('git_index_closed'))
      await git(path, 'pack-refs', '--all')
      assert.equal(existsSync(join(path, 'refs/heads/main')), false)
      const second = await open(path)
      assert.equal(await second.head(), id)
      await second.commit([put('1/b')], info('Two\n'))
      assert.equal(await git(path, 'log', '--format=%s', 'main'), 'Two\nOne')
      await second.close()
    })

    test('commits at the same time stand in line', async () => {
      const path = fresh()
      const repository = await open(path)
      const made = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          repository.commit([put(`1/${String.fromCharCode(97 + i)}`)], info(`${i}\n`)),
        ),
      )
      assert.equal(new Set(made).size, 20)
      assert.equal((await git(path, 'log', '--format=%s')).split('\n').join(), [...Array(20).keys()].reverse().join())
      assert.equal((await paths(repository)).length, 20)
      await repository.close()
    })

    test('a commit writes one blob, the trees above it and itself, however many crates there are', async () => {
      const path = fresh()
      const repository = await open(path)
      const letter = (i: number): string => String.fromCharCode(97 + (i % 26))
      const many = Array.from({ length: 3_000 }, (_, i) =>
        put(`${letter(i)}${letter(i / 26)}/${letter(i / 676)}x/n${i}`),
      )
      await repository.commit(many, info())
      assert.equal(await repository.commit(many, info()), null)
      assert.equal((await paths(repository)).length, 3_000)
      const before = await objects(path)
      await repository.commit([put('zz/zz/zzzz')], info())
      await repository.commit([...many.slice(0, 1_500), put('zz/zz/zzzz', 'x')], info())
      assert.equal(await objects(path), before + 10)
      await repository.close()
    })

    test('the lock of a killed process is taken away, the lock of a living one waited for', async () => {
      const path = fresh()
      const repository = await open(path)
      await repository.commit([put('1/a')], info())
      const lock = join(path, 'refs/heads/master.lock')
      await writeFile(lock, '')
      await utimes(lock, new Date(), new Date(Date.now() - 60_000))
      await repository.commit([put('1/b')], info())
      assert.equal(existsSync(lock), false)
      await writeFile(lock, '')
      let freed = false
      setTimeout(() => {
        freed = true
        void rm(lock)
      }, 400)
      await repository.commit([put('1/c')], info())
      assert.equal(freed, true)
      await repository.close()
    })

    test('leftovers of killed processes go when they are old, and only then', async () => {
      const path = fresh()
      await (await open(path)).close()
      const old = [
        'objects/pack/tmp_pack_x',
        'fast_import_crash_1',
        'objects/pack/multi-pack-index.lock',
        'gc.pid.lock',
      ]
      const keep = `objects/pack/pack-${'0'.repeat(40)}.keep`
      for (const name of [...old, keep]) {
        await writeFile(join(path, name), name === keep ? 'fast-import' : '')
        await utimes(join(path, name), new Date(), new Date(Date.now() - 3_600_000))
      }
      await writeFile(join(path, 'objects/pack/tmp_pack_young'), '')
      await writeFile(join(path, `objects/pack/pack-${'1'.repeat(40)}.keep`), 'mine')
      await (await open(path)).close()
      assert.deepEqual((await readdir(join(path, 'objects/pack'))).sort(), [
        `pack-${'1'.repeat(40)}.keep`,
        'tmp_pack_young',
      ])
      assert.equal(existsSync(join(path, 'fast_import_crash_1')), false)
    })

    test('maintain packs what has piled up, does nothing otherwise, and open readers do not notice', async () => {
      const path = fresh()
      const repository = await open(path)
      // Many commits pile up packs, many files in a commit pile up loose objects: an engine does one or the other.
      for (let i = 0; i < 60; i++) await repository.commit([put('ca/rg/cargo', `${i}\n`)], info(`${i}\n`))
      for (let i = 0; i < 3; i++) {
        const many = Array.from({ length: 400 }, (_, n) => put(`ab/cd/abcd${n}`, `${i}`.repeat(n + 1)))
        await repository.commit(many, info())
      }
      const piled = await files(join(path, 'objects'))
      assert.ok(piled > 120, `${piled} files`)
      // Readers and writers go on meanwhile.
      const busy = (async () => {
        for (let i = 0; i < 20; i++) {
          await repository.commit([put('1/a', `${i}\n`)], info())
          assert.equal(Buffer.from((await repository.read('1/a')) ?? []).toString(), `${i}\n`)
        }
      })()
      await repository.maintain()
      await busy
      const packed = await files(join(path, 'objects'))
      assert.ok(packed < piled / 2, `${packed} of ${piled} files`)
      assert.equal(Buffer.from((await repository.read('ca/rg/cargo')) ?? []).toString(), '59\n')
      await repository.commit([put('ca/rg/cargo', 'new\n')], info())
      await repository.maintain()
      const state = await readdir(join(path, 'objects/pack'))
      await repository.maintain()
      assert.deepEqual(await readdir(join(path, 'objects/pack')), state)
      assert.equal(await git(path, 'rev-list', '--count', 'HEAD'), '84')
      await git(path, 'fsck', '--strict')
      await repository.close()
    })

    test('files for plain web servers are what git update-server-info writes, after every commit', async () => {
      const path = fresh()
      const repository = await open(path)
      for (let i = 0; i < 3; i++) await repository.commit([put('1/a', `${i}`)], info())
      const read = async () => [
        await readFile(join(path, 'info/refs'), 'utf8'),
        (await readFile(join(path, 'objects/info/packs'), 'utf8')).split('\n').sort(),
      ]
      const ours = await read()
      await git(path, 'update-server-info', '--force')
      assert.deepEqual(await read(), ours)
      await repository.close()
    })

    test('clones over file:// and from a plain file server', async () => {
      const path = fresh()
      const repository = await open(path)
      await repository.commit([put('config.json'), put('ca/rg/cargo')], info())
      const server = createServer((request, response) => {
        readFile(join(path, decodeURIComponent(new URL(request.url ?? '', 'http://x').pathname))).then(
          bytes => response.end(bytes),
          () => response.writeHead(404).end(),
        )
      }).listen(0, '127.0.0.1')
      await once(server, 'listening')
      for (const url of [`file://${path}`, `http://127.0.0.1:${(server.address() as AddressInfo).port}/`]) {
        const clone = fresh()
        await run('git', ['clone', '-q', url, clone])
        assert.equal(await readFile(join(clone, 'ca/rg/cargo'), 'utf8'), '{"name":"ca/rg/cargo"}\n')
        const id = await repository.commit([put('ca/rg/cargo', url)], info())
        await run('git', ['-C', clone, 'pull', '-q'])
        assert.equal(await git(join(clone, '.git'), 'rev-parse', 'HEAD'), id)
        await repository.commit([put('ca/rg/cargo')], info())
      }
      server.close()
      await repository.close()
    })

    test('kill -9 in the middle of commits loses nothing that was acknowledged', { timeout: 120_000 }, async () => {
      const path = fresh()
      let last = ''
      for (const [round, delay] of [300, 450, 700, 1100].entries()) {
        const writer = spawn(process.execPath, [join(here, '../support/index-writer.js'), path, engine])
        const seen = collect(writer)
        await seen.first
        await new Promise(resolve => setTimeout(resolve, delay))
        writer.kill('SIGKILL')
        await once(writer, 'close')
        const acknowledged = seen.lines()
        assert.ok(acknowledged.length > 3, `${acknowledged.length} commits in round ${round}`)
        const history = (await git(path, 'rev-list', 'HEAD')).split('\n')
        const newest = acknowledged.at(-1) ?? ''
        // At most the one commit that was under way came in without an answer.
        assert.ok(history.slice(0, 2).includes(newest))
        assert.ok(last === '' || history.includes(last))
        last = newest
        await git(path, 'fsck', '--strict')
      }
      const repository = await open(path)
      assert.ok(await repository.commit([put('1/a')], info()))
      await repository.close()
    })
  })
}

describe('opening the index repository', () => {
  test('every engine makes the same commits of the same changes', { skip: !nodegit && 'needs nodegit' }, async () => {
    const heads = await Promise.all(
      (['git', 'nodegit'] as const).map(async engine => {
        const repository = await openIndexRepository({ path: fresh(), engine })
        const author = { name: "it's O'Hara.", email: '"x"@y' }
        await repository.commit([put('1/a'), put('ca/rg/cargo'), put('ca/rg-x/b')], { ...info('no line end'), author })
        await repository.commit([put('ca/rg/cargo', 'x'), { path: '1/a', bytes: null }], info('# hash\n\n\n'))
        const head = await repository.head()
        await repository.close()
        return head
      }),
    )
    assert.equal(heads[0], heads[1])
  })

  test('one engine goes on where the other stopped', { skip: !nodegit && 'needs nodegit' }, async () => {
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

  test('`auto` takes nodegit when it is there, else git', async () => {
    const repository = await openIndexRepository({ path: fresh() })
    assert.equal(repository.engine, nodegit ? 'nodegit' : 'git')
    await repository.close()
  })

  test('says what is missing when there is no engine', async () => {
    const missing = { path: fresh(), engine: 'git', gitCommand: '/nonexistent/git' } as const
    await assert.rejects(openIndexRepository(missing), refusal('git_engine_missing'))
    const old = join(root, 'old-git')
    await writeFile(old, '#!/bin/sh\necho git version 2.30.2\n', { mode: 0o755 })
    await assert.rejects(openIndexRepository({ ...missing, gitCommand: old }), refusal('git_too_old'))
    if (!nodegit)
      await assert.rejects(openIndexRepository({ path: fresh(), engine: 'nodegit' }), refusal('git_nodegit_missing'))
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
})

/** Objects in the repository, loose and packed. */
async function objects(path: string): Promise<number> {
  const counts = await git(path, 'count-objects', '-v')
  return Number(/^count: (\d+)/m.exec(counts)?.[1]) + Number(/^in-pack: (\d+)/m.exec(counts)?.[1])
}

async function files(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter(entry => entry.isFile()).length
}

/** The whole lines a process prints. */
function collect(child: ChildProcess): { first: Promise<unknown>; lines(): string[] } {
  let text = ''
  child.stdout?.setEncoding('utf8').on('data', chunk => {
    text += chunk
  })
  const first = Promise.race([
    child.stdout ? once(child.stdout, 'data') : null,
    once(child, 'exit').then(() => assert.fail('the writer ended by itself')),
  ])
  first.catch(() => {})
  return { first, lines: () => text.split('\n').slice(0, -1) }
}
