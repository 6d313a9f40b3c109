import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, promises, readFileSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join, relative } from 'node:path'
import { type TestContext, test } from 'node:test'
import { build } from '../../../generator/build/build.ts'
import { buildPages } from '../../../generator/pages/pages.ts'
import type { Registry } from '../../../generator/registry.ts'
import { FsyncJournal } from '../../../generator/store/fsync-journal.ts'
import { addCrate, folderOf, newRegistry } from '../../support/workplace.ts'

const CHILD = {
  tree: new URL('../../../generator/store/public-tree.js', import.meta.url).href,
  paths: new URL('../../../core/paths/place.js', import.meta.url).href,
  journal: new URL('../../../generator/store/fsync-journal.js', import.meta.url).href,
}

/** What is put on disk from here on, by its path below `folder`. */
function watchSyncs(t: TestContext, folder: string): string[] {
  const synced: string[] = []
  const { open } = promises
  promises.open = async (...args) => {
    const file = await open(...args)
    const { sync } = file
    file.sync = async () => {
      synced.push(relative(folder, String(args[0])) || '.')
      return sync.call(file)
    }
    return file
  }
  syncBuiltinESMExports()
  t.after(() => {
    promises.open = open
    syncBuiltinESMExports()
  })
  return synced
}

/** A process that dies by SIGKILL between its renames and the moment in which they would be on disk. */
async function die(registry: Registry, list: 'build' | 'pages', work: string): Promise<void> {
  const [root, file] = [registry.dir, join(registry.dir, 'locks', `${list}.journal`)].map(one =>
    JSON.stringify(one),
  )
  const code = `
    import { PublicTree } from ${JSON.stringify(CHILD.tree)}
    import { placeOf } from ${JSON.stringify(CHILD.paths)}
    import { FsyncJournal } from ${JSON.stringify(CHILD.journal)}
    const output = (path, text) => ({ ...placeOf(path), bytes: Buffer.from(text) })
    const journal = new FsyncJournal(${root}, ${file})
    ${work}`
  const signal = await new Promise(resolve => {
    execFile(process.execPath, ['--input-type=module', '-e', code], error => resolve(error?.signal))
  })
  assert.equal(signal, 'SIGKILL')
}

async function scene(t: TestContext): Promise<Registry> {
  const registry = await newRegistry(t)
  await addCrate(registry, { name: 'demo', version: '1.0.0' })
  await build(registry)
  await buildPages(registry)
  return registry
}

test('pages that a killed process has written are put on disk by the next turn, although they are equal', async t => {
  const registry = await scene(t)
  const page = readFileSync(registry.tree.path('crates/demo/index.html'), 'utf8')
  writeFileSync(registry.tree.path('crates/demo/index.html'), 'old')
  await die(
    registry,
    'pages',
    `await new PublicTree(${JSON.stringify(registry.tree.root)}, { durable: true }).batch(journal, async tree => {
      await tree.write(output('crates/demo/index.html', ${JSON.stringify(page)}))
      process.kill(process.pid, 'SIGKILL')
    })`,
  )
  const synced = watchSyncs(t, registry.dir)
  await buildPages(registry, { all: true })
  const [first, ...folders] = synced
  assert.equal(first, 'public/crates/demo/index.html')
  assert.deepEqual(folders.sort(), ['.', 'public', 'public/crates', 'public/crates/demo'])
  assert.equal(existsSync(join(registry.dir, 'locks', 'pages.journal')), false)
})

test('so is what it has written or removed one by one', async t => {
  const registry = await scene(t)
  const tree = JSON.stringify(registry.tree.root)
  for (const [work, path] of [
    [`tree.write(output('index/de/mo/gone', 'x'))`, 'public/index/de/mo/gone'],
    [`tree.remove('index/de/mo/gone')`, null],
  ] as const) {
    await die(
      registry,
      'build',
      `import { promises } from 'node:fs'
      import { syncBuiltinESMExports } from 'node:module'
      const { open } = promises
      // Only folders are opened for reading: the file is there by then, the folder not on disk.
      promises.open = async (path, flags) => flags === 'r' ? process.kill(process.pid, 'SIGKILL') : open(path, flags, 0o644)
      syncBuiltinESMExports()
      const tree = new PublicTree(${tree}, { durable: true, journal })
      await ${work}`,
    )
    const synced = watchSyncs(t, registry.dir)
    await build(registry)
    if (path !== null) assert.equal(synced.shift(), path)
    assert.deepEqual(synced.sort(), [
      '.',
      'public',
      'public/index',
      'public/index/de',
      'public/index/de/mo',
    ])
  }
})

test('after an orderly end nothing that is equal is put on disk again', async t => {
  const registry = await scene(t)
  const synced = watchSyncs(t, registry.dir)
  await build(registry, { all: true })
  await buildPages(registry, { all: true })
  assert.deepEqual(synced, [])
})

test('what failed stays listed until the next turn', async t => {
  const registry = await scene(t)
  const list = join(registry.dir, 'locks', 'build.journal')
  const journal = new FsyncJournal(registry.dir, list)
  const failing = journal.during('public/a', async () => Promise.reject(new Error('no')))
  await Promise.all([assert.rejects(failing), journal.during('public/b', async () => undefined)])
  assert.equal(readFileSync(list, 'utf8').split('\0').sort().join(' ').trim(), 'public/a public/b')
  await journal.settle()
  assert.equal(existsSync(list), false)
})

test('a list that a power cut has spoilt is passed over', async t => {
  const folder = folderOf(t)
  mkdirSync(join(folder, 'registry'))
  const list = join(folder, 'registry', 'list')
  const synced = watchSyncs(t, folder)
  writeFileSync(list, `\0\0../outside\0${'x'.repeat(5000)}\0public/none\0`)
  await new FsyncJournal(join(folder, 'registry'), list).settle()
  assert.deepEqual(synced, ['registry'])
  assert.equal(existsSync(list), false)
})
