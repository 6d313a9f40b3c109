import assert from 'node:assert/strict'
import fs, { linkSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join, relative } from 'node:path'
import { type TestContext, test } from 'node:test'
import { publicFile } from '../../../core/paths/tree.ts'
import { build } from '../../../generator/pages/build.ts'
import { buildPages } from '../../../generator/pages/pages.ts'
import { PublicTree } from '../../../generator/places/public-tree.ts'
import { setMarks } from '../../../generator/records/marks.ts'
import { addCrate, folderOf, newRegistry } from '../../support/workplace.ts'

/** From here on, `sync` stands for fsync, with the path of what is put on disk. */
function replaceSync(
  t: TestContext,
  sync: (path: string, descriptor: number, done: fs.NoParamCallback) => void,
): typeof fs.fsync {
  const { fsync } = fs
  fs.fsync = ((descriptor: number, done: fs.NoParamCallback) =>
    sync(readlinkSync(`/proc/self/fd/${descriptor}`), descriptor, done)) as typeof fsync
  syncBuiltinESMExports()
  t.after(() => {
    fs.fsync = fsync
    syncBuiltinESMExports()
  })
  return fsync
}

/** What is put on disk from here on, by its path below `folder`. */
function watchSyncs(t: TestContext, folder: string): string[] {
  const synced: string[] = []
  const fsync = replaceSync(t, (path, descriptor, done) => {
    synced.push(relative(folder, path) || '.')
    fsync(descriptor, done)
  })
  return synced
}

const output = (path: string, text: string) => ({ ...publicFile(path), bytes: Buffer.from(text) })

test('a batch puts files on disk at its end, once, with the names of their folders', async t => {
  const tree = new PublicTree(folderOf(t), 'each')
  const synced = watchSyncs(t, tree.root)
  await tree.batch(async batch => {
    await batch.write(output('a/b/one', '1'))
    await batch.write(output('a/b/one', '2'))
    await batch.write(output('a/two', '2'))
    assert.deepEqual(synced, [])
  })
  assert.deepEqual(synced.splice(0, 2).sort(), ['a/b/one', 'a/two'])
  assert.deepEqual(synced.sort(), ['.', '..', 'a', 'a/b'])
})

test('of a link to bytes that are on disk only the name is synced, of a copy the bytes, too', async t => {
  const folder = folderOf(t)
  const tree = new PublicTree(join(folder, 'public'), 'each')
  const source = join(folder, 'source.crate')
  writeFileSync(source, 'crate')
  await tree.write({ ...publicFile('a/copy.crate'), bytes: Buffer.from('crate') })
  const synced = watchSyncs(t, tree.root)
  for (const name of ['new', 'new', 'copy']) await tree.show(publicFile(`a/${name}.crate`), source)
  assert.deepEqual(synced, ['a', 'a', 'a/copy.crate', 'a'])
})

test('without a batch each change is on disk when it is done', async t => {
  const tree = new PublicTree(folderOf(t), 'each')
  const synced = watchSyncs(t, tree.root)
  await tree.write(output('a/one', '1'))
  assert.deepEqual(synced.splice(0).sort(), ['.', '..', 'a', 'a/one'])
  await tree.remove('a/one')
  assert.deepEqual(synced.sort(), ['.'])
})

test('a folder whose name is on disk is not synced for it again, unless it was made anew', async t => {
  const tree = new PublicTree(folderOf(t), 'each')
  await tree.write(output('a/b/one', '1'))
  const synced = watchSyncs(t, tree.root)
  await tree.write(output('a/b/two', '1'))
  assert.deepEqual(synced.splice(0).sort(), ['a/b', 'a/b/two'])
  // As another process removes it.
  rmSync(tree.path('a'), { recursive: true })
  await tree.write(output('a/b/two', '1'))
  assert.deepEqual(synced.sort(), ['.', 'a', 'a/b', 'a/b/two'])
})

test('a file that was removed before the end of its batch does not matter', async t => {
  const tree = new PublicTree(folderOf(t), 'each')
  await tree.batch(async batch => {
    await batch.write(output('a/one', '1'))
    rmSync(tree.path('a'), { recursive: true })
  })
})

test('what a killed process may have written without a sync is synced before its mark goes', async t => {
  const registry = await newRegistry(t)
  const { crate } = await addCrate(registry, { name: 'demo', version: '1.0.0' })
  const synced = watchSyncs(t, registry.dir)
  await build(registry)
  for (const folder of ['.', 'public', 'public/index', 'public/index/de', 'public/index/de/mo'])
    assert.ok(synced.includes(folder), folder)
  await buildPages(registry)
  const { database } = registry
  // As a kill leaves it: the files are there, equal, perhaps only in memory; so are the marks.
  await setMarks(
    database,
    [
      { kind: 'index', subject: crate.id },
      { kind: 'page', subject: crate.id },
    ],
    crate.generation,
  )
  synced.length = 0
  await build(registry)
  assert.ok(synced.includes('public/index/de/mo/demo'))
  assert.ok(synced.includes('public/index/de/mo'))
  await buildPages(registry)
  assert.ok(synced.includes('public/crates/demo/index.html'))
  assert.ok(synced.includes('public/crates/demo'))
})

test('what failed to be synced is replaced before it counts as on disk; links to the crate store stay', async t => {
  const folder = folderOf(t)
  const tree = new PublicTree(join(folder, 'public'), 'each')
  const source = join(folder, 'source.crate')
  writeFileSync(source, 'crate')
  linkSync(source, join(folder, 'other.crate'))
  let failing = ''
  const synced: number[] = []
  const fsync = replaceSync(t, (path, descriptor, done) => {
    if (path === tree.path('a/one') && path !== failing) synced.push(fs.fstatSync(descriptor).ino)
    if (path !== failing) return fsync(descriptor, done)
    failing = ''
    done(Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO' }))
  })
  const path = tree.path('a/one')
  failing = path
  const keeper = tree.newBatch()
  await tree.within(keeper).write(output('a/one', '1'))
  const before = statSync(path).ino
  await assert.rejects(keeper.sync(), { code: 'EIO' })
  const after = statSync(path).ino
  assert.notEqual(after, before, 'a new file has the bytes that may be lost')
  await tree.write(output('a/one', '1'))
  assert.deepEqual(synced, [statSync(path).ino])
  assert.equal(String(await tree.read('a/one')), '1')
  const shown = tree.path('a/x.crate')
  failing = tree.path('a')
  await assert.rejects(tree.show(publicFile('a/x.crate'), source), { code: 'EIO' })
  assert.equal(statSync(shown).ino, statSync(source).ino)
  await tree.show(publicFile('a/x.crate'), source)
})
