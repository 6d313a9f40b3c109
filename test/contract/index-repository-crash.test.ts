import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { IndexRepository } from '../../generator/git/index-repository/repository.ts'
import { openIndexRepository } from '../../generator/git/index-repository/repository.ts'
import { isWaiting } from '../support/event-loop.ts'
import { endImporters, engines, fresh, git, info, put } from '../support/index-repository.ts'
import { until } from '../support/until.ts'

const here = dirname(fileURLToPath(import.meta.url))

for (const engine of engines) {
  describe(`index repository after a kill, engine ${engine}`, () => {
    const open = (path: string): Promise<IndexRepository> => openIndexRepository({ path, engine })

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
      const commit = repository.commit([put('1/c')], info())
      assert.ok(await isWaiting(commit))
      await rm(lock)
      await commit
      await repository.close()
    })

    test('a commit goes through after all processes of the daemon got a signal', async () => {
      const path = fresh()
      const repository = await open(path)
      const first = await repository.commit([put('1/a')], info())
      await endImporters()
      assert.ok(await repository.commit([put('1/b')], info()))
      assert.equal(await git(path, 'rev-parse', 'HEAD~1'), first)
      await repository.close()
      await git(path, 'fsck', '--strict')
    })

    test('stale files of killed processes are removed when they are old, and only then', async () => {
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

    test('what a failed commit has left is removed after the next one, and at a start', async () => {
      const path = fresh()
      const repository = await open(path)
      await repository.commit([put('1/a')], info())
      const objects = join(path, 'objects')
      await rename(objects, `${objects}.away`)
      await assert.rejects(repository.commit([put('1/b')], info()))
      await rm(objects, { recursive: true, force: true })
      await rename(`${objects}.away`, objects)
      await mkdir(join(objects, '17'), { recursive: true })
      const left = ['pack/tmp_pack_x', 'info/commit-graph.lock', '17/tmp_obj_x', 'tmp_obj_y']
      for (const name of left) await writeFile(join(objects, name), '')
      await repository.maintain()
      assert.ok(left.every(name => !existsSync(join(objects, name))))
      assert.ok(await repository.commit([put('1/b')], info()))
      await repository.close()
      await git(path, 'fsck', '--strict')

      const loose = join(objects, '17/tmp_obj_x')
      await writeFile(loose, '')
      await utimes(loose, new Date(), new Date(Date.now() - 60_000))
      await (await open(path)).close()
      assert.equal(existsSync(loose), false)
    })

    test('close does not wait for packing, and the next start goes on from there', async () => {
      const path = fresh()
      const repository = await open(path)
      for (let i = 0; i < 4; i++) {
        const many = Array.from({ length: 400 }, (_, n) => put(`ab/cd/abcd${n}`, `${i} ${n}`))
        await repository.commit(many, info())
      }
      for (let i = 0; i < 55; i++) await repository.commit([put('1/a', `${i}`)], info())
      const packing = repository.maintain()
      await repository.close()
      await packing
      await git(path, 'fsck', '--strict')
      const again = await open(path)
      await again.maintain()
      assert.ok(await again.commit([put('1/b')], info()))
      await git(path, 'fsck', '--strict')
      await again.close()
    })

    test('kill -9 in the middle of commits loses nothing that was acknowledged', {
      timeout: 120_000,
    }, async () => {
      const path = fresh()
      let last = ''
      for (const commits of [4, 5, 8, 13]) {
        const writer = spawn(process.execPath, [
          join(here, '../support/index-writer.js'),
          path,
          engine,
        ])
        const seen = collect(writer)
        await seen.count(commits)
        writer.kill('SIGKILL')
        await once(writer, 'close')
        const acknowledged = seen.lines()
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

/** The whole lines a process prints; `count` waits until there are that many. */
function collect(child: ChildProcess): {
  count(least: number): Promise<void>
  lines(): string[]
} {
  let text = ''
  child.stdout?.setEncoding('utf8').on('data', chunk => {
    text += chunk
  })
  const lines = () => text.split('\n').slice(0, -1)
  const count = (least: number) =>
    until(
      () => {
        assert.equal(child.exitCode, null, 'the writer ended by itself')
        return lines().length >= least
      },
      () => `${lines().length} commits`,
    )
  return { count, lines }
}
