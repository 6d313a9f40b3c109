// Mirrors generator/deploy/: what an operator in a hurry may name as the target
import assert from 'node:assert/strict'
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Code } from '../../../core/error/error.ts'
import { isOwnPath } from '../../../core/paths/own.ts'
import { deploy } from '../../../generator/deploy/deploy.ts'
import { FolderPlace } from '../../../generator/places/folder-place.ts'
import type { Place } from '../../../generator/places/place.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { filesBelow, treeDigest } from '../../support/folder.ts'
import { refusedWith } from '../../support/refusal.ts'
import { TestRegistry } from '../../support/registry.ts'
import { bucketOn, startS3 } from '../../support/s3/bucket.ts'
import { objectOf } from '../../support/s3/objects.ts'
import { folderOf } from '../../support/workplace.ts'

const SUM = '0123456789abcdef'.repeat(4)

interface Options {
  readonly removes?: boolean
  readonly isPagesOnly?: boolean
  readonly isTrial?: boolean
}

/** A registry whose tree has files of all kinds, and a deployment of that tree to a target. */
async function source() {
  const registry = await TestRegistry.open({ after })
  const token = await registry.user('alice')
  const manifest = 'keywords = ["boats"]\ncategories = ["science::robotics"]'
  for (const version of ['1.0.0', '1.1.0+b']) {
    const { body } = await registry.publish(token, { name: 'Demo', version, manifest })
    assert.equal('errors' in body, false, JSON.stringify(body))
  }
  await registry.indexWorker.settle()
  await registry.indexWorker.pages.flush()
  assert.deepEqual(registry.buildFailures, [])
  const from = join(registry.dir, 'public')
  const run = (to: Place, options: Options = {}) =>
    deploy({ from, to, removes: false, isTrial: false, ...options })
  return { registry, from, run }
}

let made: ReturnType<typeof source>
before(() => {
  made = source()
})

const folderPlace = (root: string) => new FolderPlace(root, { sync: 'never' })

function put(root: string, ...paths: string[]): string {
  for (const path of paths) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), path)
  }
  return root
}

/** Asserts that no kind of deployment changes the folder. */
async function changesNothing(
  run: (to: Place, options: Options) => Promise<unknown>,
  folder: string,
  code: Code,
) {
  const before = treeDigest(folder)
  for (const removes of [false, true])
    for (const isTrial of [false, true]) {
      const deployed = run(folderPlace(folder), { removes, isTrial })
      await assert.rejects(deployed, refusedWith(code), folder)
    }
  assert.equal(treeDigest(folder), before)
}

test('all files of a tree are known to be its own', async () => {
  const { from } = await made
  const paths = filesBelow(from)
  for (const part of ['categories/', 'crates/Demo/1.1.0+b/src/', 'feeds/', 'search/'])
    assert.ok(
      paths.some(path => path.startsWith(part)),
      part,
    )
  for (const path of paths) assert.ok(isOwnPath(path), path)
})

test('a folder that is no tree stays as it is, with --delete or without', async t => {
  const { registry, run } = await made
  const reg = join(folderOf(t), 'reg')
  cpSync(registry.dir, reg, { recursive: true })
  await changesNothing(run, reg, 'deploy_registry')
  await changesNothing(run, dirname(reg), 'deploy_foreign')
  await changesNothing(run, join(reg, 'crates'), 'deploy_foreign')
  const others = [
    put(folderOf(t), '.bashrc', 'crates/demo/src/lib.rs', 'images/holiday.jpg'),
    put(folderOf(t), 'index.html'),
    put(folderOf(t), 'assets/logo.png'),
    put(folderOf(t), 'Cargo.toml', 'crates/demo/Cargo.toml'),
  ]
  for (const folder of others) await changesNothing(run, folder, 'deploy_foreign')
})

test('where a tree was uploaded once, --delete leaves all other files alone', async t => {
  const { registry, from, run } = await made
  const reg = join(folderOf(t), 'reg')
  cpSync(registry.dir, reg, { recursive: true })
  const others = ['.bashrc', 'CNAME', 'images/holiday.jpg', 'crates/demo/src/lib.rs', 'about.html']
  const home = put(dirname(reg), ...others)
  const before = treeDigest(reg)
  cpSync(from, home, { recursive: true })
  put(home, 'crates/old/old-1.0.0.crate', 'sitemap-o.xml')
  const { removed, foreign } = await run(folderPlace(home), { removes: true })
  assert.deepEqual([...removed].sort(), ['crates/old/old-1.0.0.crate', 'sitemap-o.xml'])
  for (const path of others) assert.ok(foreign.includes(path) && existsSync(join(home, path)), path)
  assert.equal(treeDigest(reg), before)
  // A registry folder with a tree in it is one all the same, wherever its records are.
  cpSync(from, reg, { recursive: true })
  await changesNothing(run, reg, 'deploy_registry')
  rmSync(join(reg, 'plimsoll.toml'))
  await changesNothing(run, reg, 'deploy_registry')
})

test('a crate store in a bucket stays as it is under any prefix', async t => {
  const { run } = await made
  for (const prefix of ['', 'crates/', 'index/', 'index.git/objects/', 'crates/demo/1.0.0/']) {
    const s3 = await startS3(new Cleanup(t))
    const to = () => bucketOn(s3, '', 10_000, 60)
    const key = `${prefix}de/mo/demo/${SUM}.crate`
    s3.objects.set(key, objectOf(Buffer.from('x'), {}))
    for (const removes of [false, true])
      await assert.rejects(run(to(), { removes }), refusedWith('deploy_foreign'))
    assert.deepEqual(s3.keys(), [key])
    s3.objects.set('index/config.json', objectOf(Buffer.from('x'), {}))
    s3.objects.set('crates/old/index.html', objectOf(Buffer.from('x'), {}))
    const { removed, foreign } = await run(to(), { removes: true })
    assert.deepEqual([removed, foreign], [['crates/old/index.html'], [key]])
    assert.ok(s3.objects.has(key))
  }
})

test('an empty folder takes a tree, and what an upload has left that was stopped', async t => {
  const { from, run } = await made
  const empty = folderOf(t)
  mkdirSync(join(empty, 'lost+found'))
  await run(folderPlace(empty), { removes: true })
  for (const path of filesBelow(from)) assert.ok(existsSync(join(empty, path)), path)
  const stopped = put(folderOf(t), 'crates/old/old-1.0.0.crate', 'index/3/o/old')
  const removal = run(folderPlace(stopped), { removes: true })
  await assert.rejects(removal, refusedWith('deploy_unfinished'))
  assert.equal((await run(folderPlace(stopped))).surplus, 2)
  assert.equal((await run(folderPlace(stopped), { removes: true })).removed.length, 2)
})

test('a checkout for Pages takes a tree: what is there of git and the host stays', async t => {
  const { run } = await made
  const others = ['.git/HEAD', '.git/refs/heads/main', '.gitattributes', 'CNAME']
  for (const removes of [false, true]) {
    const checkout = put(folderOf(t), ...others)
    const { removed, foreign } = await run(folderPlace(checkout), { removes })
    assert.deepEqual([removed, foreign], [[], [...others].sort()])
    assert.ok(existsSync(join(checkout, 'index/config.json')))
  }
  await changesNothing(run, put(folderOf(t), '.git/HEAD', 'index.html'), 'deploy_foreign')
})

test('pages alone go nowhere but to a tree', async t => {
  const { run } = await made
  for (const folder of [folderOf(t), put(folderOf(t), 'index.html')]) {
    const before = treeDigest(folder)
    const pages = run(folderPlace(folder), { isPagesOnly: true })
    await assert.rejects(pages, refusedWith('deploy_not_pushed'))
    assert.equal(treeDigest(folder), before)
  }
})
