// Mirrors site/browser/sources/: faults of a package, or of its host
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { launchChromium } from '../support/chromium.ts'
import { Cleanup } from '../support/cleanup.ts'
import { buildCrate, buildEvil, type Trick, tar } from '../support/crate-builder.ts'
import { BOMBS, PAYLOADS } from '../support/hostile.ts'
import { plimsoll } from '../support/plimsoll.ts'
import { scratch } from '../support/scratch.ts'
import { serveFiles } from '../support/static-server.ts'
import { linksOf } from './browsing.ts'

const browser = await launchChromium()
after(() => browser.close())
const cleanup = new Cleanup({ after })
/** The files of a static tree with the crate `evil`, by path. */
const tree = new Map<string, Uint8Array>()

const PAGE = 'crates/evil/1.0.0/src/index.html'
const CRATE = 'crates/evil/evil-1.0.0.crate'
const INDEX = 'index/ev/il/evil'

/** Builds a static tree of one good crate, with settings. */
async function build(...settings: string[]): Promise<Map<string, Uint8Array>> {
  const folder = scratch(cleanup)
  const [from, out] = [join(folder, 'from'), join(folder, 'out')]
  mkdirSync(from)
  for (const version of ['1.0.0', '1.1.0']) {
    const bytes = buildCrate({ name: 'evil', version, files: { 'src/lib.rs': `//! ${version}\n` } })
    writeFileSync(join(from, `evil-${version}.crate`), bytes)
  }
  const flags = settings.flatMap(setting => ['--set', setting])
  const { code, stderr } = await plimsoll(folder, ['build', '--from', from, '--out', out, ...flags])
  assert.equal(code, 0, stderr)
  const paths = readdirSync(out, { recursive: true, withFileTypes: true })
  return new Map(
    paths
      .filter(entry => entry.isFile())
      .map(entry => join(entry.parentPath, entry.name))
      .map(path => [path.slice(out.length + 1), readFileSync(path)]),
  )
}

for (const [path, bytes] of await build()) tree.set(path, bytes)
const { url, close } = await serveFiles(tree)
cleanup.add(close)

/** Has the tree show other bytes, as if they had been published; `most` may be unpacked of them. */
function plant(bytes: Uint8Array, most = 64 * 1024 * 1024): void {
  const cksum = createHash('sha256').update(bytes).digest('hex')
  const patch = (path: string, pattern: RegExp, by: string) =>
    tree.set(
      path,
      Buffer.from(
        Buffer.from(tree.get(path) ?? '')
          .toString()
          .replace(pattern, by),
      ),
    )
  tree.set(CRATE, bytes)
  patch(INDEX, /("vers":"1\.0\.0".*?"cksum":")[0-9a-f]{64}/, `$1${cksum}`)
  patch(
    PAGE,
    /data-size="\d+" data-unpacked="\d+"/,
    `data-size="${bytes.length}" data-unpacked="${most}"`,
  )
}

/** Opens the page of the planted crate; no script of it runs, and the page never stands still. */
async function look(
  work: (page: Page, complaints: string[]) => Promise<void>,
  { fragment = '', at = url } = {},
): Promise<void> {
  const context = await browser.newContext()
  try {
    const page = await context.newPage()
    page.setDefaultTimeout(30_000)
    const complaints: string[] = []
    page.on('console', message => complaints.push(message.text()))
    page.on('pageerror', error => complaints.push(error.message))
    await page.addInitScript(() => {
      const seen = window as unknown as { longest: number }
      seen.longest = 0
      new PerformanceObserver(list => {
        for (const { duration } of list.getEntries())
          seen.longest = Math.max(seen.longest, duration)
      }).observe({ type: 'longtask', buffered: true })
    })
    await page.goto(`${at}/crates/evil/1.0.0/src/${fragment}`)
    await work(page, complaints)
    assert.equal(await page.evaluate('typeof __hit'), 'undefined')
    const longest = (await page.evaluate('longest')) as number
    assert.ok(longest < 2000, `the page stood still for ${longest} ms`)
  } finally {
    await context.close()
  }
}

const state = (page: Page) => page.locator('[data-checksum]').getAttribute('data-checksum')
const words = (page: Page) => page.locator('[data-state]').innerText()
const good = (text: string) =>
  buildCrate({ name: 'evil', version: '1.0.0', files: { 'src/lib.rs': text } })

test('a package with one changed byte is named as differing, and shown only when asked for', async () => {
  plant(good('//! good\n'))
  const bytes = Buffer.from(tree.get(CRATE) ?? '')
  // A byte of the header of gzip, which nobody reads.
  bytes[4] = (bytes[4] ?? 0) ^ 1
  tree.set(CRATE, bytes)
  await look(async page => {
    await page.locator('[data-checksum=differs]').waitFor()
    assert.match(
      await words(page),
      /^Differs: the package that was loaded for evil 1\.0\.0 does not match/,
    )
    const sum = createHash('sha256').update(bytes).digest('hex')
    assert.ok((await words(page)).includes(sum))
    assert.equal(await page.locator('.code, .tree').count(), 0)
    await page.getByRole('button', { name: 'Show it anyway' }).click()
    await page.locator('.code', { hasText: 'good' }).waitFor()
    assert.equal(await state(page), 'differs')
  })
})

test('a package that the index does not name, or cannot be compared with, is unchecked', async () => {
  plant(good('//! unnamed\n'))
  const line = tree.get(INDEX) ?? new Uint8Array()
  tree.set(INDEX, Buffer.from('{"vers":"2.0.0"}\n[\n'))
  await look(async page => {
    await page.locator('.code', { hasText: 'unnamed' }).waitFor()
    assert.equal(await state(page), 'unchecked')
    assert.match(await words(page), /^Unchecked: .* because the index has no line of this version/)
  })
  tree.delete(INDEX)
  await look(async page => {
    await page.locator('.code', { hasText: 'unnamed' }).waitFor()
    assert.match(await words(page), /because the index answered with 404/)
  })
  tree.set(INDEX, line)
  tree.delete(CRATE)
  await look(async page => {
    await page.getByText('answered with 404 for the package').waitFor()
    assert.equal(await state(page), 'unchecked')
  })
})

test('a comparison starts again after other versions, a fault of the host, or a lost worker', async () => {
  const bytes = good('//! late\n')
  plant(bytes)
  tree.set(CRATE, good('//! another\n'))
  await look(async page => {
    const sum = page.locator('.file-sum')
    const compare = (from: string) => page.goto(`${url}/crates/evil/compare/#${from}...1.1.0`)
    const asked = page.getByRole('button', { name: 'Show it anyway' })
    await compare('1.0.0')
    await asked.waitFor()
    await compare('1.1.0')
    await sum.getByText('No file differs.').waitFor()
    assert.equal(await state(page), 'verified')
    await compare('1.0.0')
    await asked.waitFor()

    tree.delete(CRATE)
    await page.reload()
    await page.getByText('answered with 404').waitFor()
    tree.set(CRATE, bytes)
    await page.getByRole('button', { name: 'Compare' }).click()
    await sum.getByText('2 files differ').waitFor()

    const archive = page.workers().find(worker => worker.url().includes('archive'))
    const ended = new Promise(resolve => archive?.once('close', resolve))
    await archive?.evaluate('queueMicrotask(() => { throw new Error("full") })')
    await ended
    await compare('1.1.0')
    // Open folds say it, too, where they were drawn before the worker was lost.
    await page
      .locator('[data-state]', { hasText: 'the packages have to be loaded again' })
      .waitFor()
    await page.getByRole('button', { name: 'Compare' }).click()
    await sum.getByText('No file differs.').waitFor()
  })
})

test('over plain HTTP, where browsers have no SHA-256, a package is verified, too', async () => {
  plant(good('//! plain\n'))
  await look(
    async (page, complaints) => {
      await page.locator('.code', { hasText: 'plain' }).waitFor()
      assert.equal(await page.evaluate(() => isSecureContext), false)
      assert.equal(await state(page), 'verified')
      assert.deepEqual(complaints, [])
    },
    { at: url.replace('127.0.0.1', 'harbour.test') },
  )
})

test('a large package is only loaded when asked for', async () => {
  const noise = Buffer.concat(
    Array.from({ length: 300_000 }, (_, at) => createHash('sha256').update(`${at}`).digest()),
  )
  plant(buildCrate({ name: 'evil', version: '1.0.0', files: { 'src/lib.rs': '//! big\n', noise } }))
  await look(async page => {
    await page.getByText('The package of evil 1.0.0 has 9.2 MiB.').waitFor()
    assert.equal(await state(page), 'unchecked')
    await page.getByRole('button', { name: 'Load it' }).click()
    await page.locator('.code', { hasText: 'big' }).waitFor()
    assert.equal(await state(page), 'verified')
  })
})

test('a bomb is given up when it unpacks to more than its records say', async () => {
  const data = new Uint8Array(200 * 1024 * 1024)
  const members = [
    { path: 'evil-1.0.0/src/lib.rs', data: '//! first\n' },
    { path: 'evil-1.0.0/bomb', data },
  ]
  plant(gzipSync(tar(members), { level: 1 }), 1024 * 1024)
  await look(async page => {
    await page.getByText(/Not all could be read: .*unpacks to more than 1\.0 MiB/).waitFor()
    await page.locator('.code', { hasText: 'first' }).waitFor()
  })
})

const TRICKS: readonly Trick[] = [
  ...(['symlink', 'hard link', 'fifo', 'sparse file', 'unknown type', 'global header'] as const),
  ...(['parent path', 'absolute path', 'nul path', 'not UTF-8 path', 'two top folders'] as const),
  ...(['same path twice', 'file and folder', 'pax size lie', 'two NULs', 'old long name'] as const),
  ...(['wrong checksum', 'folder with data', 'truncated gzip', 'truncated tar'] as const),
  ...(['damaged gzip', 'data after tar', 'data after gzip', 'second gzip member'] as const),
  'not gzip',
]

test('archives that a publish would refuse show what Cargo would unpack, and why not all', async () => {
  for (const trick of TRICKS) {
    plant(buildEvil(trick))
    await look(async page => {
      await page.locator('[data-checksum=verified]').waitFor()
      await page.locator('.file-body').waitFor()
      const paths = await page.locator('.tree a').allInnerTexts()
      assert.ok(!paths.some(path => /^\.\.?$|^\/|passwd/.test(path)), `${trick}: ${paths}`)
    })
  }
  plant(Buffer.concat([good('//! trailing\n'), Buffer.from('junk')]))
  await look(async page => {
    await page.locator('.code', { hasText: 'trailing' }).waitFor()
    assert.equal(await page.locator('.notice:not(.check)').count(), 0)
  })
})

test('hostile sources run nothing, also in names of files and as documents', async () => {
  const evil = `<img src=x onerror=__hit=1>`
  const files = {
    'src/lib.rs': PAYLOADS.join('\n'),
    'evil.md': PAYLOADS.join('\n\n'),
    'evil.html': PAYLOADS.join('\n'),
    'evil.svg': `<svg xmlns="http://www.w3.org/2000/svg" onload="__hit=1"><script>__hit=1</script></svg>`,
    [evil]: PAYLOADS.join('\n'),
  }
  plant(buildCrate({ name: 'evil', version: '1.0.0', files }))
  for (const path of Object.keys(files))
    await look(
      async page => {
        await page.locator('.file-name', { hasText: path }).waitFor()
        if (path.endsWith('.md')) await page.locator('[aria-label=Rendered] .readme').waitFor()
        assert.equal(await page.locator('main script, main iframe, main [onerror]').count(), 0)
        for (const href of await linksOf(page, 'main a')) assert.match(href, /^(?:https?:|mailto:)/)
      },
      { fragment: `#${encodeURIComponent(path)}` },
    )
  await look(async page => {
    await page.getByPlaceholder('Search in all files').fill('__hit')
    await page.locator('.found li').first().waitFor()
  })
})

test('names and lines that would be read backwards show the character that turns them', async () => {
  const [path, shown] = ['src/lib\u202esr.txt', 'src/lib[U+202E]sr.txt']
  const files = { 'src/lib.rs': '', [path]: 'turned \u202e around\n' }
  plant(buildCrate({ name: 'evil', version: '1.0.0', files }))
  await look(
    async page => {
      assert.equal(await page.locator('.file-name').innerText(), shown)
      assert.equal(await page.locator('.tree [aria-current]').innerText(), 'lib[U+202E]sr.txt')
      await page.getByPlaceholder('Search in all files').fill('turned')
      const hit = await page.locator('.found li').first().innerText()
      assert.equal(hit, `${shown}:1 turned [U+202E] around`)
    },
    { fragment: `#${encodeURI(path)}` },
  )
})

const BOMBED = Object.fromEntries(
  ['quotes in quotes', 'open tags', 'tables in tables', 'many attributes'].map((name, at) => [
    `bomb-${at}.md`,
    BOMBS[name] ?? '',
  ]),
)

test('what takes too long to color or to render is shown plain', async () => {
  // Some ten seconds on the fastest machine, without a limit.
  const files = { 'slow.ts': `${'(a'.repeat(2450)}\n`.repeat(2400), ...BOMBED }
  plant(buildCrate({ name: 'evil', version: '1.0.0', files }))
  await look(
    async page => {
      await page.locator('.code').waitFor()
      await page.getByText('Shown without colors, which take too long.').waitFor()
      for (const name of Object.keys(BOMBED)) {
        await page.getByRole('link', { name }).click()
        await page.locator('.file-name', { hasText: name }).waitFor()
        await page.locator('[aria-label=Rendered][aria-busy=false]').waitFor({ state: 'attached' })
      }
    },
    { fragment: '#slow.ts' },
  )
})

test('the first file of a package of 1 MB is there at once', async () => {
  const lines = Array.from({ length: 60_000 }, (_, at) => {
    const sum = createHash('sha256').update(`${at}`).digest('base64')
    return `pub const T${at}: &str = "${sum}";\n`
  })
  const files: Record<string, string> = { 'src/lib.rs': lines.slice(0, 300).join('') }
  for (let at = 0; at < 100; at++)
    files[`src/part_${at}.rs`] = lines.slice(at * 300, at * 300 + 300).join('')
  plant(buildCrate({ name: 'evil', version: '1.0.0', files }))
  assert.ok((tree.get(CRATE)?.length ?? 0) > 1_000_000)
  await look(async page => {
    await page.locator('.code').waitFor()
    const took = await page.evaluate(() => {
      const [loaded] = performance.getEntriesByType('navigation') as { responseEnd?: number }[]
      return (performance.getEntriesByName('file')[0]?.startTime ?? 0) - (loaded?.responseEnd ?? 0)
    })
    // Some 300 ms on a quiet machine; in a test run others are at work, too.
    assert.ok(took > 0 && took < 3000, `${took} ms`)
  })
})

test('packages on another host need its permission, and the page says which', async () => {
  const packages = new Map<string, Uint8Array>()
  const closed = await serveFiles(packages)
  const open = await serveFiles(packages, '', [], { 'access-control-allow-origin': '*' })
  cleanup.add(() => closed.close())
  cleanup.add(() => open.close())
  for (const host of [closed, open]) {
    const files = await build(`registry.dl=${host.url}/{crate}-{version}-{sha256-checksum}.crate`)
    const cksum = createHash('sha256')
      .update(files.get(CRATE) ?? '')
      .digest('hex')
    packages.set(`evil-1.0.0-${cksum}.crate`, files.get(CRATE) ?? new Uint8Array())
    const server = await serveFiles(files, '', [host.url])
    cleanup.add(() => server.close())
    await look(
      async page => {
        if (host === open) {
          await page.locator('.code', { hasText: '1.0.0' }).waitFor()
          assert.equal(await state(page), 'verified')
          return
        }
        const header = `Access-Control-Allow-Origin: ${server.url}`
        await page.locator('[data-state]', { hasText: header }).waitFor()
        assert.equal(await state(page), 'unchecked')
      },
      { at: server.url },
    )
  }
})
