import assert from 'node:assert/strict'
import fs, { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { test } from 'node:test'
import { publicFile } from '../../../core/paths/tree.ts'
import { ChangeNumber } from '../../../generator/places/change-number.ts'
import { PublicTree } from '../../../generator/places/public-tree.ts'
import { fileStamps, filesBelow } from '../../support/folder.ts'
import { folderOf } from '../../support/workplace.ts'

const output = (path: string, text: string) => ({ ...publicFile(path), bytes: Buffer.from(text) })

for (const sync of ['each', 'never'] as const) {
  test(`a file is written when its bytes change, and only then (sync: ${sync})`, async t => {
    const tree = new PublicTree(folderOf(t), sync)
    assert.equal(await tree.write(output('index/3/a/abc', 'one\n')), true)
    const before = fileStamps(tree.root)
    assert.equal(await tree.write(output('index/3/a/abc', 'one\n')), false)
    assert.deepEqual(fileStamps(tree.root), before)
    assert.equal(await tree.write(output('index/3/a/abc', 'two\n')), true)
    assert.equal(readFileSync(tree.path('index/3/a/abc'), 'utf8'), 'two\n')
    assert.deepEqual(filesBelow(tree.root), ['index/3/a/abc'])
  })
}

test('many texts are written in one step, and folders are swept before', async t => {
  const tree = new PublicTree(folderOf(t), 'each')
  await tree.write(output('index/ab/cd/kept', 'kept\n'))
  await tree.write(output('index/ab/cd/abcd', 'old\n'))
  writeFileSync(tree.path('index/ab/cd/.writing-0123456789abcdef'), 'half')
  const before = statSync(tree.path('index/ab/cd/kept'))
  const texts = [
    { path: 'index/ab/cd/abcd', text: 'new é\n' },
    { path: 'index/ab/cd/kept', text: 'kept\n' },
    { path: 'index/ef/gh/efgh', text: 'first\n' },
  ]
  await tree.writeAll(texts, ['index/ab/cd', 'index/ef/gh'])
  for (const { path, text } of texts) assert.equal(readFileSync(tree.path(path), 'utf8'), text)
  assert.equal(statSync(tree.path('index/ab/cd/kept')).ino, before.ino)
  assert.deepEqual(
    filesBelow(tree.root),
    texts.map(text => text.path),
  )
})

test('a copy with the right bytes is left alone, one with others is replaced', async t => {
  const folder = folderOf(t)
  const tree = new PublicTree(join(folder, 'public'), 'each')
  const source = join(folder, 'source')
  writeFileSync(source, 'bytes')
  const place = publicFile('crates/demo/demo-1.0.0.crate')
  await tree.write({ ...place, bytes: Buffer.from('bytes') })
  const before = fileStamps(tree.root)
  await tree.show(place, source)
  assert.deepEqual(fileStamps(tree.root), before)
  await tree.write({ ...place, bytes: Buffer.from('bytEs') })
  await tree.show(place, source)
  assert.equal(readFileSync(tree.path(place.path), 'utf8'), 'bytes')
})

test('where a file system cannot link, a .crate is a copy', async t => {
  const folder = folderOf(t)
  const tree = new PublicTree(join(folder, 'public'), 'each')
  const source = join(folder, 'source')
  writeFileSync(source, 'bytes')
  const { linkSync } = fs
  t.after(() => {
    fs.linkSync = linkSync
    syncBuiltinESMExports()
  })
  const paths = ['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP', 'ENOSYS'].map(code => `crates/demo/${code}`)
  for (const path of paths) {
    fs.linkSync = (_, to) => {
      // A folder that is missing is what the system says first.
      statSync(dirname(String(to)))
      throw Object.assign(new Error(path), { code: basename(path) })
    }
    syncBuiltinESMExports()
    await tree.show(publicFile(path), source)
    const before = fileStamps(tree.root)
    await tree.show(publicFile(path), source)
    assert.deepEqual(fileStamps(tree.root), before)
    assert.equal(readFileSync(tree.path(path), 'utf8'), 'bytes')
  }
  assert.deepEqual(filesBelow(tree.root), paths.toSorted())
})

test('remove takes the folders that it empties along, and stops at the root', async t => {
  const tree = new PublicTree(folderOf(t), 'each')
  await tree.write(output('index/ab/cd/abcd', 'x'))
  await tree.write(output('index/ab/ce/abce', 'x'))
  await tree.remove('index/ab/cd/abcd')
  assert.equal(existsSync(tree.path('index/ab/cd')), false)
  assert.equal(existsSync(tree.path('index/ab/ce/abce')), true)
  await tree.remove('index/ab/ce/abce')
  await tree.remove('index/ab/ce/abce')
  assert.equal(existsSync(tree.path('index')), false)
  assert.equal(existsSync(tree.root), true)
})

test('list and folders pass over what is half-written, sweep removes it', async t => {
  const tree = new PublicTree(folderOf(t), 'each')
  await tree.write(output('crates/demo/demo-1.0.0.crate', 'x'))
  writeFileSync(tree.path('crates/demo/.writing-0123456789abcdef'), 'ha')
  mkdirSync(tree.path('crates/empty'))
  assert.deepEqual(await listed(tree, ''), ['crates/demo/demo-1.0.0.crate'])
  assert.deepEqual(await listed(tree, 'none'), [])
  assert.deepEqual(await tree.folders('crates'), ['demo'])
  await tree.sweep('crates/demo')
  assert.deepEqual(filesBelow(tree.root), ['crates/demo/demo-1.0.0.crate'])
  await tree.remove('crates', true)
  assert.deepEqual(filesBelow(tree.root), [])
})

async function listed(tree: PublicTree, folder: string): Promise<string[]> {
  const paths: string[] = []
  for await (const path of tree.list(folder)) paths.push(path)
  return paths
}

test('each change renews the number of changes, before the caller hears of it', async t => {
  const folder = folderOf(t)
  const number = join(folder, 'locks', 'tree.changes')
  const tree = new PublicTree(join(folder, 'public'), 'each', {
    changes: new ChangeNumber(number),
  })
  const reader = new ChangeNumber(number)
  const source = join(folder, 'source')
  writeFileSync(source, 'bytes')
  const path = 'index/3/a/abc'
  const seen = [reader.read()]
  for (const change of [
    () => tree.write(output(path, 'one\n')),
    // A killed process may have written it without a word.
    () => tree.write(output(path, 'one\n')),
    () => tree.show(publicFile('crates/demo/demo-1.0.0.crate'), source),
    () => tree.remove(path),
    () => tree.batch(batch => batch.write(output(path, 'two\n'))),
    () => tree.remove('index', true),
  ]) {
    await change()
    const now = reader.read()
    assert.ok(!seen.includes(now), String(change))
    seen.push(now)
  }
})
