import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { IndexRepository } from '../../generator/git/index-repository/repository.ts'
import { openIndexRepository } from '../../generator/git/index-repository/repository.ts'
import { engines, fresh, git, info, nodegit, paths, put, run } from '../support/index-repository.ts'

if (process.env.PLIMSOLL_REQUIRE_NODEGIT === '1') {
  test('nodegit is installed, as PLIMSOLL_REQUIRE_NODEGIT=1 asks', () =>
    assert.ok(nodegit, 'run npm run setup:nodegit'))
}
if (!nodegit)
  console.log('nodegit is not installed, so only git is tested; npm run setup:nodegit compiles it')

for (const engine of engines) {
  describe(`index repository, engine ${engine}`, () => {
    const open = (path: string): Promise<IndexRepository> => openIndexRepository({ path, engine })

    test('a new repository is bare, valid and empty', async () => {
      const path = fresh()
      const repository = await open(path)
      assert.equal(await repository.head(), null)
      assert.deepEqual(await paths(repository), [])
      assert.equal(await git(path, 'rev-parse', '--is-bare-repository'), 'true')
      await git(path, 'fsck', '--strict')
      await repository.close()
    })

    test('a commit holds the bytes of every tier, its message and time', async () => {
      const path = fresh()
      const repository = await open(path)
      const all = ['1/a', '2/ab', '3/a/abc', 'ca/rg/cargo', 'ca/rg/cargo-1_x', 'config.json']
      const id = await repository.commit(
        [...all].reverse().map(path => put(path)),
        info(),
      )
      assert.match(id ?? '', /^[0-9a-f]{40}$/)
      assert.equal(await repository.head(), id)
      assert.deepEqual(await paths(repository), all)
      assert.equal(await git(path, 'show', 'HEAD:3/a/abc'), '{"name":"3/a/abc"}')
      assert.equal(
        await git(path, 'log', '--format=%H|%an|%ae|%aI|%cn|%cI|%B'),
        `${id}|Plimsoll|registry@localhost|2026-11-20T12:00:00+00:00|Plimsoll|2026-11-20T12:00:00+00:00|Publish cargo 1.0.0 (by admin)`,
      )
      assert.equal(await git(path, 'symbolic-ref', 'HEAD'), 'refs/heads/master')
      await git(path, 'fsck', '--strict')
      await repository.close()
    })

    test('what does not differ makes no commit, and what is removed goes with its empty folders', async () => {
      const path = fresh()
      const repository = await open(path)
      assert.equal(await repository.commit([], info()), null)
      assert.equal(await repository.commit([gone('1/a')], info()), null)
      const first = await repository.commit([put('1/a'), put('ca/rg/cargo')], info())
      assert.equal(await repository.commit([put('1/a'), gone('1/b')], info()), null)
      assert.equal(await repository.head(), first)
      const changes = [put('1/a'), gone('ca/rg/cargo'), put('1/c')]
      const second = await repository.commit(changes, info())
      assert.deepEqual(await paths(repository), ['1/a', '1/c'])
      assert.equal(await git(path, 'rev-parse', 'HEAD~1'), first)
      assert.equal(
        await git(path, 'diff-tree', '--name-status', '-r', `${second}`, '--'),
        `${second}\nA\t1/c\nD\tca/rg/cargo`,
      )
      await repository.commit([gone('1/a'), gone('1/c')], info())
      assert.deepEqual(await paths(repository), [])
      assert.ok(await repository.commit([put('1/a')], info()))
      await git(path, 'fsck', '--strict')
      await repository.close()
    })

    test('messages cannot break out of their place', async () => {
      const path = fresh()
      const repository = await open(path)
      const message = 'Grüße 🚢\n\nfrom refs/heads/x\ndata 5\n'
      await repository.commit([put('1/a')], info(message))
      assert.deepEqual(await paths(repository), ['1/a'])
      assert.equal(await git(path, 'log', '--format=%B'), message.trim())
      await repository.commit([put('1/a', '')], info(''))
      assert.equal(await git(path, 'log', '-1', '--format=%B'), '')
      assert.equal(await git(path, 'cat-file', '-s', 'HEAD:1/a'), '0')
      await git(path, 'fsck', '--strict')
      await repository.close()
    })

    test('history goes on after a restart, on whatever branch HEAD names, packed refs included', async () => {
      const path = fresh()
      await run('git', ['init', '-q', '--bare', '-b', 'main', path])
      const first = await open(path)
      const id = await first.commit([put('1/a')], info('One\n'))
      await first.close()
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
      assert.equal(
        (await git(path, 'log', '--format=%s')).split('\n').join(),
        [...Array(20).keys()].reverse().join(),
      )
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

    test('maintain packs what has piled up, does nothing otherwise, and open readers do not notice', async () => {
      const path = fresh()
      const repository = await open(path)
      // Many commits pile up packs, many files in a commit pile up loose objects: an engine does
      // one or the other.
      for (let i = 0; i < 60; i++)
        await repository.commit([put('ca/rg/cargo', `${i}\n`)], info(`${i}\n`))
      for (let i = 0; i < 3; i++) {
        const many = Array.from({ length: 400 }, (_, n) =>
          put(`ab/cd/abcd${n}`, `${i}`.repeat(n + 1)),
        )
        await repository.commit(many, info())
      }
      const piled = await files(join(path, 'objects'))
      assert.ok(piled > 120, `${piled} files`)
      // Readers and writers go on meanwhile.
      const busy = (async () => {
        for (let i = 0; i < 20; i++) {
          await repository.commit([put('1/a', `${i}\n`)], info())
          assert.equal(await git(path, 'show', 'HEAD:1/a'), `${i}`)
        }
      })()
      await repository.maintain()
      await busy
      const packed = await files(join(path, 'objects'))
      assert.ok(packed < piled / 2, `${packed} of ${piled} files`)
      assert.equal(await git(path, 'show', 'HEAD:ca/rg/cargo'), '59')
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
  })
}

function gone(path: string) {
  return { path, bytes: null }
}

/** Objects in the repository, loose and packed. */
async function objects(path: string): Promise<number> {
  const counts = await git(path, 'count-objects', '-v')
  return Number(/^count: (\d+)/m.exec(counts)?.[1]) + Number(/^in-pack: (\d+)/m.exec(counts)?.[1])
}

async function files(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter(entry => entry.isFile()).length
}
