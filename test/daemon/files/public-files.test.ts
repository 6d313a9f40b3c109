import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import {
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { HonoRequest } from 'hono/request'
import { PublicFiles, type PublicFilesOptions } from '../../../daemon/files/public-files.ts'

const LINES = `${'{"name":"demo"}\n'.repeat(200)}`
const TEXT_HEADERS = {
  'cache-control': 'no-cache',
  'content-type': 'text/plain; charset=utf-8',
  'x-content-type-options': 'nosniff',
}

/** A tree in a temporary folder, and how to ask it. */
class Tree {
  readonly root: string
  readonly files: PublicFiles

  constructor(t: TestContext, options?: PublicFilesOptions) {
    const dir = mkdtempSync(join(tmpdir(), 'plimsoll-tree-'))
    t.after(() => rmSync(dir, { recursive: true, force: true }))
    this.root = join(dir, 'public')
    mkdirSync(this.root)
    this.files = new PublicFiles(this.root, options)
  }

  /** Puts a file there the way the public tree does: beside it, then in its place. */
  put(path: string, content: string | Uint8Array): void {
    const file = join(this.root, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(`${file}.new`, content)
    renameSync(`${file}.new`, file)
  }

  async get(
    path: string,
    headers: Record<string, string> = {},
    method = 'GET',
  ): Promise<Response | null> {
    const request = new Request('http://crates.test/', { method, headers })
    return this.files.serve(path, { req: new HonoRequest(request) })
  }

  /** Status and body of an answer; 0 when there is none. */
  async text(path: string, headers: Record<string, string> = {}): Promise<[number, string]> {
    const response = await this.get(path, headers)
    return response ? [response.status, await response.text()] : [0, '']
  }
}

/** The tag of content, made here in another way. */
function tagOf(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 32)
}

async function bytesOf(response: Response | null): Promise<Buffer> {
  return Buffer.from((await response?.arrayBuffer()) ?? new ArrayBuffer(0))
}

function headersOf(response: Response | null): Record<string, string> {
  return Object.fromEntries(response?.headers ?? [])
}

test('an index file: text, to be asked for again each time, with a strong tag made of its content', async t => {
  const tree = new Tree(t)
  tree.put('index/de/mo/demo', LINES)
  const response = await tree.get('/index/de/mo/demo')
  assert.equal(response?.status, 200)
  assert.deepEqual(headersOf(response), {
    ...TEXT_HEADERS,
    'content-length': '3200',
    etag: `"${tagOf(LINES)}"`,
    vary: 'accept-encoding',
  })
  assert.equal(await response?.text(), LINES)
})

test('gzip has a tag of its own and unpacks to the same bytes', async t => {
  const tree = new Tree(t)
  tree.put('index/de/mo/demo', LINES)
  const response = await tree.get('/index/de/mo/demo', { 'accept-encoding': 'deflate, gzip' })
  const body = await bytesOf(response)
  assert.equal(gunzipSync(body).toString(), LINES)
  assert.deepEqual(headersOf(response), {
    ...TEXT_HEADERS,
    'content-encoding': 'gzip',
    'content-length': String(body.length),
    etag: `"${tagOf(LINES)}-gz"`,
    vary: 'accept-encoding',
  })
})

test('gzip only where it is accepted', async t => {
  const tree = new Tree(t)
  tree.put('index/de/mo/demo', LINES)
  const rows: [string | undefined, boolean][] = [
    [undefined, false],
    ['', false],
    ['GZip', true],
    ['x-gzip', true],
    ['br, gzip;q=0.5', true],
    ['gzip; q=0.001', true],
    ['*;q=0.1', true],
    ['br, deflate', false],
    ['gzipped', false],
    ['gzip; q=0', false],
    ['gzip;q=0.000', false],
    ['gzip;q=0, *', false],
    ['*, gzip;q=0', false],
    ['*;q=0', false],
    ['*;q=0, gzip', true],
  ]
  for (const [header, isZipped] of rows) {
    const headers = header === undefined ? {} : { 'accept-encoding': header }
    const response = await tree.get('/index/de/mo/demo', headers)
    const encoding = response?.headers.get('content-encoding')
    assert.equal(encoding, isZipped ? 'gzip' : null, String(header))
  }
})

test('what gzip would not shrink is never compressed: crates and the smallest files', async t => {
  const tree = new Tree(t)
  tree.put('index/config.json', '{"dl":"x"}')
  tree.put('crates/demo/demo-1.0.0.crate', LINES)
  for (const path of ['/index/config.json', '/crates/demo/demo-1.0.0.crate']) {
    const response = await tree.get(path, { 'accept-encoding': 'gzip' })
    const { 'content-encoding': encoding, vary } = headersOf(response)
    assert.deepEqual([encoding, vary], [undefined, undefined], path)
  }
})

test('304 for the exact tag, the weak one, either encoding, one of many, and any', async t => {
  const tree = new Tree(t)
  tree.put('index/de/mo/demo', LINES)
  const tag = tagOf(LINES)
  const tags = [
    `"${tag}"`,
    `W/"${tag}"`,
    `"${tag}-gz"`,
    `W/"${tag}-gz"`,
    `"x", W/"${tag}" ,"y"`,
    '*',
  ]
  for (const header of tags) {
    for (const encoding of ['identity', 'gzip']) {
      const response = await tree.get('/index/de/mo/demo', {
        'if-none-match': header,
        'accept-encoding': encoding,
      })
      assert.equal(response?.status, 304, header)
      assert.equal(await response?.text(), '', header)
      assert.deepEqual(headersOf(response), {
        ...TEXT_HEADERS,
        etag: encoding === 'gzip' ? `"${tag}-gz"` : `"${tag}"`,
        vary: 'accept-encoding',
      })
    }
  }
  for (const header of ['', tag, `"${tag.slice(1)}"`, `"${tag}-br"`, `w/"${tag}"`, '"*"']) {
    const response = await tree.get('/index/de/mo/demo', { 'if-none-match': header })
    assert.equal(response?.status, 200, header)
  }
})

test('HEAD says what GET would, without the bytes', async t => {
  const tree = new Tree(t)
  tree.put('index/de/mo/demo', LINES)
  tree.put('crates/demo/demo-1.0.0.crate', 'bytes')
  tree.put('crates/demo/demo-2.0.0.crate', Buffer.alloc(1_100_000))
  const crates = [1, 2].map(number => `crates/demo/demo-${number}.0.0.crate`)
  for (const path of ['index/de/mo/demo', ...crates]) {
    const [get, head] = [await tree.get(`/${path}`), await tree.get(`/${path}`, {}, 'HEAD')]
    assert.deepEqual([head?.status, headersOf(head)], [200, headersOf(get)], path)
    assert.equal(await head?.text(), '', path)
    await get?.arrayBuffer()
  }
})

test('a crate is served as it is, for good', async t => {
  const tree = new Tree(t)
  tree.put('crates/demo/demo-1.0.0+x.crate', '0123456789')
  const response = await tree.get('/crates/demo/demo-1.0.0+x.crate', { 'accept-encoding': 'gzip' })
  assert.equal(response?.status, 200)
  assert.deepEqual(headersOf(response), {
    'accept-ranges': 'bytes',
    'cache-control': 'public, max-age=31536000, immutable',
    'content-length': '10',
    'content-type': 'application/gzip',
    etag: `"${tagOf('0123456789')}"`,
    'x-content-type-options': 'nosniff',
  })
  assert.equal(await response?.text(), '0123456789')
})

test('ranges of a crate, small or big', async t => {
  const tree = new Tree(t)
  const big = Buffer.alloc(1_500_000, '0123456789')
  tree.put('crates/a/a-1.0.0.crate', '0123456789')
  tree.put('crates/b/b-1.0.0.crate', big)
  const rows: [range: string, status: number, body: string, contentRange: string | null][] = [
    ['bytes=0-3', 206, '0123', 'bytes 0-3/10'],
    ['bytes=4-4', 206, '4', 'bytes 4-4/10'],
    ['bytes=7-', 206, '789', 'bytes 7-9/10'],
    ['bytes=7-100', 206, '789', 'bytes 7-9/10'],
    ['bytes=-2', 206, '89', 'bytes 8-9/10'],
    ['bytes=-100', 206, '0123456789', 'bytes 0-9/10'],
    ['bytes=10-', 416, '', 'bytes */10'],
    ['bytes=-0', 416, '', 'bytes */10'],
    ['bytes=3-1', 200, '0123456789', null],
    ['bytes=0-1,4-5', 200, '0123456789', null],
    ['bytes=-', 200, '0123456789', null],
    ['bytes=a-b', 200, '0123456789', null],
    ['lines=0-1', 200, '0123456789', null],
    ['bytes=0-99999999999999999999', 200, '0123456789', null],
  ]
  for (const [range, status, body, contentRange] of rows) {
    const response = await tree.get('/crates/a/a-1.0.0.crate', { range })
    assert.equal(response?.status, status, range)
    assert.equal(response?.headers.get('content-range'), contentRange, range)
    assert.equal(await response?.text(), body, range)
  }
  const part = await tree.get('/crates/b/b-1.0.0.crate', { range: 'bytes=1499998-' })
  assert.deepEqual(
    [part?.status, part?.headers.get('content-length'), await part?.text()],
    [206, '2', '89'],
  )
  const beyond = await tree.get('/crates/b/b-1.0.0.crate', { range: 'bytes=1500000-' })
  assert.equal(beyond?.status, 416)
})

test('a range for other bytes gets the whole (If-Range), and so does a range of HEAD', async t => {
  const tree = new Tree(t)
  tree.put('crates/a/a-1.0.0.crate', '0123456789')
  const tag = tagOf('0123456789')
  const status = async (ifRange: string) =>
    (await tree.get('/crates/a/a-1.0.0.crate', { range: 'bytes=0-1', 'if-range': ifRange }))?.status
  assert.equal(await status(`"${tag}"`), 206)
  assert.equal(await status('"other"'), 200)
  assert.equal(await status(`W/"${tag}"`), 200, 'weak tags never match')
  assert.equal(await status('Fri, 20 Nov 2026 12:00:00 GMT'), 200)
  const head = await tree.get('/crates/a/a-1.0.0.crate', { range: 'bytes=0-1' }, 'HEAD')
  assert.equal(head?.status, 200)
})

test('big files: crates are streamed, texts compressed, both tagged by content', async t => {
  const tree = new Tree(t)
  const text = '{"name":"demo"}\n'.repeat(100_000)
  tree.put('index/bi/gf/bigfile', text)
  tree.put('crates/b/b-1.0.0.crate', text)
  const zipped = await tree.get('/index/bi/gf/bigfile', { 'accept-encoding': 'gzip' })
  assert.equal(zipped?.headers.get('etag'), `"${tagOf(text)}-gz"`)
  assert.equal(gunzipSync(await bytesOf(zipped)).toString(), text)
  const crate = await tree.get('/crates/b/b-1.0.0.crate')
  assert.deepEqual([crate?.headers.get('etag'), await crate?.text()], [`"${tagOf(text)}"`, text])
  const again = await tree.get('/crates/b/b-1.0.0.crate', { 'if-none-match': `"${tagOf(text)}"` })
  assert.equal(again?.status, 304)
})

test('a file is fresh as soon as it was replaced, removed or made', async t => {
  const tree = new Tree(t)
  assert.equal(await tree.get('/index/de/mo/demo'), null)
  for (let i = 0; i < 200; i++) {
    const line = `line ${String(i).padStart(4, '0')}`
    tree.put('index/de/mo/demo', line)
    assert.deepEqual(await tree.text('/index/de/mo/demo'), [200, line])
  }
  unlinkSync(join(tree.root, 'index/de/mo/demo'))
  assert.equal(await tree.get('/index/de/mo/demo'), null)
})

test('two files of one size and time are told apart, small or big', async t => {
  const tree = new Tree(t)
  const time = new Date()
  for (const size of [10, 1_100_000]) {
    for (const path of ['index/de/mo/demo', 'crates/demo/demo-1.0.0.crate']) {
      for (const letter of ['a', 'b', 'a', 'c']) {
        // Written in place, so that even the inode stays.
        mkdirSync(dirname(join(tree.root, path)), { recursive: true })
        writeFileSync(join(tree.root, path), letter.repeat(size))
        utimesSync(join(tree.root, path), time, time)
        const response = await tree.get(`/${path}`)
        const tag = `"${tagOf(letter.repeat(size))}"`
        assert.equal(response?.headers.get('etag'), tag, `${path} ${letter} ${size}`)
        assert.equal((await response?.text())?.[0], letter)
      }
    }
  }
})

test('a file that has rested is not read again, and its copy in memory is told from a younger file', async t => {
  const tree = new Tree(t)
  tree.put('index/de/mo/demo', 'first')
  const file = join(tree.root, 'index/de/mo/demo')
  const inode = statSync(file).ino
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 10_000 })
  assert.deepEqual(await tree.text('/index/de/mo/demo'), [200, 'first'])
  assert.deepEqual(await tree.text('/index/de/mo/demo'), [200, 'first'])
  writeFileSync(file, 'other')
  assert.equal(statSync(file).ino, inode)
  assert.deepEqual(await tree.text('/index/de/mo/demo'), [200, 'other'])
})

test('no path leads out of the tree, to hidden, or to half-written files', async t => {
  const tree = new Tree(t)
  writeFileSync(join(tree.root, '..', 'secret'), 'secret')
  tree.put('index/de/mo/demo', 'fine')
  tree.put('index/.writing-0123456789abcdef', 'half')
  tree.put('.hidden', 'hidden')
  tree.put('.git/config', 'hidden')
  const paths = [
    '/../secret',
    '/index/../../secret',
    '/%2E%2e/secret',
    '/.%2e/secret',
    '/index/..%2f..%2Fsecret',
    '/..%5Csecret',
    '/..\\secret',
    '/%00/secret',
    '/index/de/mo/demo%00.html',
    '/index/de/mo/demo%0a',
    '/index%2Fde%2Fmo%2Fdemo',
    '/%c0%ae%c0%ae/secret',
    '/%',
    '/%zz',
    '/index/.writing-0123456789abcdef',
    '/index/%2ewriting-0123456789abcdef',
    '/.hidden',
    '/%2ehidden',
    '/.git/config',
    '/./index/de/mo/demo',
    '/index/de/mo/demo::$DATA',
    `/${'a'.repeat(300)}`,
    `/${'a/'.repeat(5000)}`,
    '/index/de/mo/demo/',
    '/index/de/mo/demo/more',
    '/index/de/mo',
    '/index/de/mo/',
    '/__proto__',
    '/constructor',
  ]
  for (const path of paths) assert.equal(await tree.get(path), null, path)
  assert.deepEqual(await tree.text('/index/de/mo/demo'), [200, 'fine'])
  assert.deepEqual(await tree.text('/%69ndex/de/mo/%64emo'), [200, 'fine'])
})

test('a link may not lead out of the tree; within it, it may', async t => {
  const tree = new Tree(t)
  const outside = join(tree.root, '..', 'outside')
  mkdirSync(outside)
  writeFileSync(join(outside, 'secret'), 'secret')
  writeFileSync(join(outside, 'index.html'), 'secret')
  writeFileSync(join(outside, 'big.crate'), Buffer.alloc(1_100_000))
  tree.put('index/de/mo/demo', 'fine')
  symlinkSync(join(outside, 'secret'), join(tree.root, 'file'))
  symlinkSync(outside, join(tree.root, 'folder'))
  symlinkSync('../outside/secret', join(tree.root, 'relative'))
  symlinkSync('loop', join(tree.root, 'loop'))
  symlinkSync('nowhere', join(tree.root, 'dangling'))
  symlinkSync('index/de/mo/demo', join(tree.root, 'inside'))
  const inFolder = ['', 'secret', 'index.html', 'big.crate'].map(name => `/folder/${name}`)
  for (const path of [...inFolder, '/file', '/relative', '/loop', '/dangling'])
    assert.equal(await tree.get(path), null, path)
  assert.deepEqual(await tree.text('/inside'), [200, 'fine'])
})

test('the root itself may be a link, and change while it is served', async t => {
  const tree = new Tree(t)
  for (const which of ['a', 'b']) {
    mkdirSync(join(tree.root, '..', which, 'index'), { recursive: true })
    writeFileSync(join(tree.root, '..', which, 'index', 'config.json'), which)
  }
  for (const which of ['a', 'b']) {
    rmSync(tree.root, { recursive: true, force: true })
    symlinkSync(which, tree.root)
    assert.deepEqual(await tree.text('/index/config.json'), [200, which])
  }
})

test('a folder is its page, under the address that ends in a slash', async t => {
  const tree = new Tree(t)
  tree.put('index.html', 'front')
  tree.put('crates/demo/index.html', 'demo')
  assert.deepEqual(await tree.text('/'), [200, 'front'])
  assert.deepEqual(await tree.text('/crates/demo/'), [200, 'demo'])
  const redirect = await tree.get('/crates/demo')
  assert.equal(redirect?.status, 301)
  assert.deepEqual(headersOf(redirect), { location: './demo/', 'cache-control': 'no-cache' })
  assert.equal(await tree.get('/crates'), null)
  assert.equal(await tree.get('/crates/'), null)
})

test('an empty file is an answer, too', async t => {
  const tree = new Tree(t)
  tree.put('index/de/mo/demo', '')
  tree.put('crates/demo/demo-1.0.0.crate', '')
  assert.deepEqual(await tree.text('/index/de/mo/demo'), [200, ''])
  assert.deepEqual(await tree.text('/crates/demo/demo-1.0.0.crate'), [200, ''])
  const part = await tree.get('/crates/demo/demo-1.0.0.crate', { range: 'bytes=0-0' })
  assert.equal(part?.status, 416)
})

test('a file in memory is looked at again when the tree has changed, or after a second', async t => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 60_000 })
  let change = 1
  const tree = new Tree(t, { changes: { read: () => change } })
  const at = (time: number, path = '/index/de/mo/demo') => {
    const asked = { method: 'GET', header: () => undefined }
    const body = tree.files.atOnce(path, asked, time)?.body
    return Buffer.isBuffer(body) ? String(body) : null
  }
  const put = async (content: string) => {
    tree.put('index/de/mo/demo', content)
    await tree.text('/index/de/mo/demo')
  }
  await put('one')
  assert.equal(at(0), 'one')
  // Another program does not say that it changes a file.
  tree.put('index/de/mo/demo', 'two')
  assert.deepEqual([at(0), at(999), at(1000)], ['one', 'one', null])
  await put('two')
  assert.equal(at(1000), 'two')
  tree.put('index/de/mo/demo', 'three')
  change = 2
  assert.equal(at(1001), null)
  await put('three')
  assert.deepEqual([at(1001), at(1002, '/index/de/mo/%64emo')], ['three', 'three'])
  assert.equal(at(1003, '/index/de/mo/../mo/demo'), null)
  change = Number.NaN
  assert.equal(at(1004), 'three')
  rmSync(join(tree.root, 'index'), { recursive: true })
  assert.equal(at(1005), null)
})
