import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Refusal } from '../../../core/error/error.ts'
import { output } from '../../../core/paths/tree.ts'
import { CrateStore } from '../../../generator/places/crate-store.ts'
import { isStorageRefusal } from '../../../generator/places/disk/fault.ts'
import { FolderPlace } from '../../../generator/places/folder-place.ts'
import { type IndexFile, Mirror } from '../../../generator/places/mirror.ts'
import { PublicTree } from '../../../generator/places/public-tree.ts'
import { Cleanup } from '../../support/cleanup.ts'
import { refusedWith } from '../../support/refusal.ts'
import { bucketOn, startS3 } from '../../support/s3/bucket.ts'
import { objectOf } from '../../support/s3/objects.ts'
import { folderOf, once } from '../../support/workplace.ts'

const folder = (root: string) => new FolderPlace(root, { sync: 'never' })

const INDEX = 'index/de/mo/demo'

/** A tree with its copy in a bucket, whose crates are in another. */
async function opened(t: TestContext) {
  const s3 = await startS3(new Cleanup(t))
  const root = join(folderOf(t), 'public')
  const crates = new CrateStore(bucketOn(s3, 'crates', 300), folderOf(t))
  type Options = ConstructorParameters<typeof Mirror>[3]
  const opener = (isTree: boolean) => (options?: Options) => {
    const uploads = new Mirror(bucketOn(s3, 'www', 300), folder(root), crates, options, isTree)
    return new PublicTree(root, 'each', { uploads })
  }
  // The other one is in the bucket alone.
  const [open, shared] = [opener(false), opener(true)]
  const text = (path: string) => s3.objects.get(`www/${path}`)?.bytes.toString()
  /** The bucket refuses to take this file, or any. */
  const refusePut = (path?: string) => {
    s3.fault = ({ method, key }) =>
      method === 'PUT' && (path === undefined || key === `www/${path}`) ? 403 : null
  }
  const writes = () =>
    s3.requests.splice(0).flatMap(request => (request.method === 'GET' ? [] : [request.method]))
  return { s3, root, crates, open, shared, text, refusePut, writes, tree: open() }
}

/** Puts a `.crate` into a crate store; returns its checksum and key. */
async function kept(crates: CrateStore) {
  const staged = await crates.stage(once(Buffer.from('bytes')), 100)
  const key = `de/mo/demo/${staged.cksum}.crate`
  await staged.keep(key)
  return { cksum: staged.cksum, key }
}

test('what is written is in the bucket when the write returns, and nothing is listed', async t => {
  const { s3, tree, text, writes } = await opened(t)
  await tree.write(output(INDEX, 'one\n'))
  assert.equal(text(INDEX), 'one\n')
  assert.equal(s3.objects.get(`www/${INDEX}`)?.headers['cache-control'], 'no-cache')
  assert.deepEqual(writes(), ['HEAD', 'PUT'])
  await tree.write(output(INDEX, 'two\n'))
  assert.deepEqual([text(INDEX), writes()], ['two\n', ['PUT']])
  await tree.write(output(INDEX, 'two\n'))
  assert.deepEqual(writes(), ['HEAD'])
  await tree.remove(INDEX)
  assert.deepEqual([s3.keys(), writes()], [[], ['DELETE']])
  assert.ok(s3.requests.every(({ query }) => !query.has('list-type')))
})

test('a batch uploads crates first, then the index, then pages', async t => {
  const { s3, tree, crates } = await opened(t)
  const { key } = await kept(crates)
  s3.requests.splice(0)
  const place = output('crates/demo/demo-1.0.0.crate', '')
  await tree.batch(async batch => {
    await batch.write(output('crates/demo/index.html', '<p>'))
    await batch.write(output(INDEX, 'one\n'))
    await batch.showStored(place, key)
    assert.deepEqual(s3.requests, [])
  })
  const puts = s3.requests.flatMap(request => (request.method === 'PUT' ? [request.key] : []))
  assert.deepEqual(puts, [`www/${place.path}`, `www/${INDEX}`, 'www/crates/demo/index.html'])
  assert.equal(s3.objects.get(`www/${place.path}`)?.bytes.toString(), 'bytes')
})

test('of two builders neither leaves an older file', async t => {
  const { s3, root, open, text } = await opened(t)
  const [first, other] = [open(), open()]
  await first.write(output(INDEX, '1\n'))
  await other.write(output(INDEX, '1\n'))
  // The other one writes and uploads between the read of the first one and its upload.
  let isOvertaken = false
  s3.fault = ({ method, key }) => {
    if (method === 'PUT' && key === `www/${INDEX}` && !isOvertaken) {
      isOvertaken = true
      writeFileSync(join(root, INDEX), '3\n')
      s3.objects.set(key, objectOf(Buffer.from('3\n'), {}))
    }
    return null
  }
  await first.write(output(INDEX, '2\n'))
  assert.equal(text(INDEX), '3\n')
  assert.equal(readFileSync(join(root, INDEX), 'utf8'), '3\n')
})

test('bytes that another builder has replaced since are written again', async t => {
  const { open, root, text, writes } = await opened(t)
  const [first, other] = [open(), open()]
  await first.write(output(INDEX, 'plain\n'))
  await other.write(output(INDEX, 'yanked\n'))
  assert.equal(text(INDEX), 'yanked\n')
  // What the first one remembers is what it is to write now, and is not there any more.
  writes()
  await first.write(output(INDEX, 'plain\n'))
  assert.equal(text(INDEX), 'plain\n')
  assert.equal(readFileSync(join(root, INDEX), 'utf8'), 'plain\n')
  assert.deepEqual(writes(), ['HEAD', 'HEAD', 'PUT'])
})

test('after another builder an index file is what the records have, and its crates are first', async t => {
  const { s3, root, crates, shared, text } = await opened(t)
  const { key } = await kept(crates)
  const shown = 'crates/demo/demo-3.0.0.crate'
  let records: IndexFile | null = { text: '2\n', unshown: new Map() }
  const tree = shared({ indexFile: async () => records })
  s3.requests.splice(0)
  let isOvertaken = false
  s3.fault = ({ method, key: at }) => {
    if (method === 'PUT' && at === `www/${INDEX}` && !isOvertaken) {
      isOvertaken = true
      records = { text: '2\n3\n', unshown: new Map([[shown, key]]) }
      s3.objects.set(at, objectOf(Buffer.from('1\n'), {}))
    }
    return null
  }
  await tree.write(output(INDEX, '2\n'))
  assert.equal(text(INDEX), '2\n3\n')
  const puts = s3.requests.flatMap(request => (request.method === 'PUT' ? [request.key] : []))
  assert.deepEqual(puts, [`www/${INDEX}`, `www/${shown}`, `www/${INDEX}`])
  assert.equal(existsSync(join(root, INDEX)), false)

  // Deleted by one builder, published again through another one meanwhile.
  records = null
  s3.fault = ({ method }) => {
    if (method === 'DELETE') records = { text: '4\n', unshown: new Map() }
    return null
  }
  await tree.remove(INDEX)
  assert.equal(text(INDEX), '4\n')
})

test('of a shared tree, what is not uploaded yet and not removed yet counts as done', async t => {
  const { s3, shared, text } = await opened(t)
  const tree = shared()
  for (const path of ['a/old.html', 'a/b/page.html', 'a/kept.html'])
    await tree.write(output(path, path))
  await tree.batch(async batch => {
    await batch.remove('a/old.html')
    await batch.remove('a/b', true)
    await batch.write(output('a/new.html', 'new'))
    assert.equal(await batch.has('a/old.html'), false)
    assert.equal(await batch.read('a/b/page.html'), null)
    assert.equal((await batch.read('a/new.html'))?.toString(), 'new')
    assert.deepEqual((await batch.files('a')).toSorted(), ['a/kept.html', 'a/new.html'])
    assert.deepEqual(await batch.folders('a'), [])
    assert.ok(text('a/old.html') && text('a/b/page.html'))
  })
  assert.deepEqual(s3.keys(), ['www/a/kept.html', 'www/a/new.html'])
  const listed: string[] = []
  for await (const path of tree.list('a')) listed.push(path)
  assert.deepEqual(listed, ['a/kept.html', 'a/new.html'])
  // What cannot be uploaded is rendered again, perhaps elsewhere; an image never changes.
  const image = `crates/demo/1.0.0/images/${'a'.repeat(64)}.png`
  s3.fault = () => 503
  await assert.rejects(tree.write(output('a/new.html', 'newer')))
  await assert.rejects(tree.write(output(image, 'image')))
  s3.fault = () => null
  assert.equal((await tree.read('a/new.html'))?.toString(), 'new')
  await tree.write(output('a/last.html', 'last'))
  assert.deepEqual([text('a/new.html'), text(image)], ['new', 'image'])
})

test('who has lost the mutex replaces and removes nothing that others may have written', async t => {
  const { shared, text } = await opened(t)
  const [first, other] = [shared(), shared()]
  for (const path of ['index.html', 'list.html', 'old.html'])
    await first.write(output(path, 'before'))
  const asked: string[] = []
  let isHeld = true
  const mutex = {
    isHeld: async () => {
      asked.push('isHeld')
      return isHeld
    },
  }
  // What it remembers is there still: nothing has to be asked.
  await first.batch(async batch => void (await batch.write(output('list.html', 'again'))), mutex)
  assert.deepEqual([text('list.html'), asked], ['again', []])
  const older = first.batch(async batch => {
    await batch.write(output('index.html', 'older'))
    await other.write(output('index.html', 'newer'))
    await batch.write(output('index.html', 'older'))
    isHeld = false
  }, mutex)
  await assert.rejects(older, /another process has been given the work on index\.html/)
  assert.equal(text('index.html'), 'newer')
  const removal = first.batch(batch => batch.remove('old.html'), mutex)
  await assert.rejects(removal, /work on old\.html/)
  assert.equal(text('old.html'), 'before')
  isHeld = true
  await first.batch(async batch => void (await batch.write(output('index.html', 'newest'))), mutex)
  assert.equal(text('index.html'), 'newest')
})

test('an answer that is lost after the file was stored is a success', async t => {
  const { s3, tree, text } = await opened(t)
  await tree.write(output(INDEX, '1\n'))
  let left = 1
  s3.fault = ({ method }) => (method === 'PUT' && left-- > 0 ? 'lost' : null)
  await tree.write(output(INDEX, '2\n'))
  assert.equal(text(INDEX), '2\n')
})

test('what could not be uploaded or removed is with the next change', async t => {
  const { s3, tree, text } = await opened(t)
  await tree.write(output(INDEX, '1\n'))
  await tree.write(output('old.html', 'old'))
  s3.fault = () => 503
  const isDown = refusedWith('bucket_unreachable')
  await assert.rejects(tree.write(output(INDEX, '2\n')), isDown)
  await assert.rejects(tree.remove('old.html'), isDown)
  s3.fault = () => null
  await tree.write(output('index.html', 'new'))
  assert.deepEqual([text(INDEX), text('old.html'), text('index.html')], ['2\n', undefined, 'new'])
})

test('a file that the storage refuses stops no other one, and is not tried with them again', async t => {
  const { s3, tree, text } = await opened(t)
  await tree.write(output('index/config.json', '{}'))
  await tree.write(output('old.html', 'old'))
  await tree.write(output('locked.html', 'locked'))
  const long = `raw/${'a'.repeat(1024)}.txt`.replaceAll(/.{200}/g, '$&/')
  s3.fault = ({ method, key }) => (method === 'DELETE' && key === 'www/locked.html' ? 403 : null)
  const change = tree.batch(async batch => {
    await batch.write(output(INDEX, '1\n'))
    await batch.write(output(long, 'long'))
    await batch.write(output('index.html', 'new'))
    await batch.remove('locked.html')
    await batch.remove('old.html')
  })
  const error: unknown = await change.catch((thrown: unknown) => thrown)
  assert.ok(error instanceof Refusal && !isStorageRefusal(error))
  for (const { code } of error.issues) assert.equal(code, 'file_refused')
  assert.match(error.message, /^raw\/a.*400.*locked\.html.*403/)
  assert.deepEqual([text(INDEX), text('index.html'), text('old.html')], ['1\n', 'new', undefined])
  s3.requests.splice(0)
  await tree.write(output('index.html', 'newer'))
  const keys = s3.requests.map(request => request.key)
  assert.deepEqual(keys, ['www/index.html'])
})

test('an index line does not precede a `.crate` that the storage refuses', async t => {
  const { s3, tree, text } = await opened(t)
  await tree.write(output('index/config.json', '{}'))
  s3.fault = ({ key }) => (key.endsWith('demo-1.0.0.crate') ? 400 : null)
  const change = tree.batch(async batch => {
    await batch.write(output(INDEX, '1\n'))
    await batch.write(output('index/ot/he/other', '1\n'))
    await batch.write(output('crates/demo/demo-1.0.0.crate', 'bytes'))
  })
  await assert.rejects(change, /demo-1\.0\.0\.crate/)
  assert.deepEqual([text(INDEX), text('index/ot/he/other')], [undefined, '1\n'])
})

test('in a new bucket, whether it takes files is seen by the `config.json` of this tree', async t => {
  const { s3, root, tree, text, refusePut } = await opened(t)
  const bad = 'crates/demo/demo-1.0.0.crate'
  mkdirSync(join(root, 'index'), { recursive: true })
  writeFileSync(join(root, 'index/config.json'), '{}')
  refusePut(bad)
  const change = () =>
    tree.batch(async batch => {
      await batch.write(output(bad, 'bytes'))
      await batch.write(output('index/ot/he/other', '1\n'))
      await batch.write(output('index.html', 'front'))
    })
  const isOfFile = (error: unknown) =>
    error instanceof Refusal && error.has('file_refused') && !isStorageRefusal(error)
  await assert.rejects(change(), isOfFile)
  assert.deepEqual([text('index/ot/he/other'), text('index.html')], ['1\n', 'front'])
  assert.equal(text('index/config.json'), '{}')
  assert.equal(s3.objects.get('www/index/config.json')?.headers['cache-control'], 'no-cache')
  // Another writer is first: its file stays.
  s3.objects.delete('www/index/config.json')
  s3.fault = ({ method, key }) => {
    if (method === 'PUT' && key === 'www/index/config.json')
      s3.objects.set(key, objectOf(Buffer.from('theirs'), {}))
    return method === 'PUT' && key === `www/${bad}` ? 403 : null
  }
  await assert.rejects(change(), isOfFile)
  assert.equal(text('index/config.json'), 'theirs')
  // It takes none.
  s3.objects.delete('www/index/config.json')
  refusePut()
  await assert.rejects(change(), isStorageRefusal)
  // Nothing to ask with.
  rmSync(join(root, 'index/config.json'))
  refusePut(bad)
  await assert.rejects(change(), isStorageRefusal)
})

test('a storage that takes no file at all gets everything later', async t => {
  const { s3, tree, text, refusePut } = await opened(t)
  await tree.write(output('index/config.json', '{}'))
  refusePut()
  const paths = Array.from({ length: 100 }, (_, at) => `pages/${at}.html`)
  const change = tree.batch(async batch => {
    for (const path of paths) await batch.write(output(path, path))
  })
  await assert.rejects(change, isStorageRefusal)
  assert.ok(s3.requests.filter(request => request.method === 'PUT').length <= 1 + 64)
  s3.fault = () => null
  await tree.write(output('index.html', 'new'))
  assert.deepEqual(paths.map(text), paths)
})

test('a `.crate` that is deleted before it is copied, or while it is, is not left there', async t => {
  const { s3, crates, open, text } = await opened(t)
  const { cksum, key } = await kept(crates)
  let isHere = true
  const isReleased = async (sum: string) => sum === cksum && isHere
  const tree = open({ isReleased })
  const place = output('crates/demo/demo-1.0.0.crate', '')
  s3.fault = ({ method }) => (method === 'PUT' ? 503 : null)
  await assert.rejects(tree.showStored(place, key))
  s3.fault = () => null
  isHere = false
  await tree.write(output('index.html', 'one'))
  assert.equal(text(place.path), undefined)

  isHere = true
  s3.fault = ({ key: at }) => {
    if (at === `www/${place.path}`) isHere = false
    return null
  }
  await tree.showStored(place, key)
  assert.equal(text(place.path), undefined)

  // Published again after its removal has failed.
  isHere = true
  s3.fault = ({ method }) => (method === 'DELETE' ? 503 : null)
  await assert.rejects(tree.remove(place.path))
  s3.fault = () => null
  await tree.showStored(place, key)
  assert.equal(text(place.path), 'bytes')
})

test('a removed folder takes what is below it, and no neighbor', async t => {
  const { s3, tree, text } = await opened(t)
  for (const path of ['crates/demo/a.html', 'crates/demo/1.0.0/b.html', 'crates/demo2/a.html'])
    await tree.write(output(path, path))
  await tree.remove('crates/demo', true)
  assert.deepEqual(s3.keys(), ['www/crates/demo2/a.html'])
  assert.equal(text('crates/demo2/a.html'), 'crates/demo2/a.html')
})

test('a file that somebody removed here is removed there', async t => {
  const { s3, tree, root } = await opened(t)
  await tree.write(output(INDEX, '1\n'))
  rmSync(join(root, INDEX))
  await tree.mirror?.update({ files: [INDEX], stored: new Map(), gone: new Map() })
  assert.deepEqual(s3.keys(), [])
})

test('a version that came back stays, although its removal was noted before or is under way', async t => {
  const { s3, crates, open, text } = await opened(t)
  const { key } = await kept(crates)
  let isBack = true
  const keyAt = async (path: string) => (isBack && path.includes('1.0.0') ? key : null)
  const tree = open({ keyAt })
  const place = output('crates/demo/demo-1.0.0.crate', '')
  const page = 'crates/demo/1.0.0/index.html'
  await tree.showStored(place, key)
  s3.objects.set(`www/${page}`, objectOf(Buffer.from('page'), {}))
  await tree.remove(place.path)
  await tree.remove('crates/demo/1.0.0', true)
  assert.deepEqual([text(place.path), text(page)], ['bytes', 'page'])
  isBack = false
  s3.fault = ({ method }) => {
    if (method === 'DELETE') isBack = true
    return null
  }
  await tree.remove(place.path)
  assert.equal(text(place.path), 'bytes')
  isBack = false
  s3.fault = () => null
  await tree.remove(place.path)
  await tree.remove('crates/demo/1.0.0', true)
  assert.deepEqual([text(place.path), text(page)], [undefined, undefined])
})
