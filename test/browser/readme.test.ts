// Mirrors site/readme/
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { buildCrate } from '../support/crate-builder.ts'
import { png } from '../support/png.ts'
import { checkView } from './browsing.ts'
import { releasePlaces, testViews } from './places.ts'

const DRAWING = `<svg xmlns="http://www.w3.org/2000/svg" width="320" height="80" onload="x()">
<script>document.title = 'hit'</script>
<rect fill="#12848c" width="320" height="80" rx="8"/><text x="20" y="50" fill="#fff">drawing</text></svg>`

/** No page asks this host: browsers of the tests know no names. */
const README = `# keel

[![Build](https://img.shields.io/badge.svg)](https://ci.example) [![License](https://img.shields.io/badge/license.svg)](LICENSE)

![A screenshot of the package](docs/shot.png)

<p align="center"><img src="docs/drawing.svg" alt="A drawing" width="320"></p>

Text around ![an image elsewhere](https://elsewhere.example/a.png) that is a link.

> [!TIP]
> a

> [!WARNING]
> b

مرحبا بالعالم 1.0

- [ ] one
  - [x] two

    - [ ] three
      1. four

* مرحبا
* بالعالم

| مرحبا | 1.0 |
|---|---|
| بالعالم | 2 |

<details>

<summary>The output of <code>--help</code>, from <a href="https://elsewhere.example/">elsewhere</a>.

\`\`\`console
$ keel --help
\`\`\`

| a [link](https://elsewhere.example/) | b |
|---|---|

</summary>

Usage: keel

</details>

<a href="https://elsewhere.example/"><details><summary>More</summary>Much more</details></a>

<a href="https://elsewhere.example/"><pre>a line in a link</pre></a>

The [terms](docs/TERMS.txt), and [a script](javascript:alert(1)).

\`\`\`rust
fn main() {
    println!("a line that is longer than a phone is wide: it scrolls, and nothing else does");
}
\`\`\`
`

const FILES = {
  'README.md': README,
  'src/lib.rs': '',
  'docs/TERMS.txt': 'the terms',
  'docs/shot.png': png(120),
  'docs/drawing.svg': DRAWING,
}
const RELEASE = {
  ...{ name: 'keel', version: '1.0.0', at: '2026-11-20T12:00:00Z', by: 'ada' },
  bytes: buildCrate({ name: 'keel', version: '1.0.0', files: FILES }),
}

/** As long as names and pre-releases may be, and nowhere to break. */
const LONG = { name: 'a'.repeat(64), version: `1.0.0-${'b'.repeat(64)}` }

const { still, live, look } = releasePlaces(() => [
  RELEASE,
  { ...RELEASE, ...LONG, bytes: buildCrate(LONG) },
])
testViews(look, still, [['long name', `crates/${LONG.name}/`]])

/** Finds the loaded images of a page. */
async function shown(page: Page): Promise<string[]> {
  return page.locator('.readme img').evaluateAll(async all => {
    const images = all as HTMLImageElement[]
    for (const image of images) image.loading = 'eager'
    await Promise.all(images.map(image => image.decode()))
    return images.filter(image => image.naturalWidth > 0).map(image => image.alt)
  })
}

for (const place of [still, live])
  test(`${place.what}: the images of the package are shown, and no others`, async () => {
    for (const path of ['crates/keel/', 'crates/keel/1.0.0/'])
      await look(place, path, async page => {
        assert.deepEqual(await shown(page), ['A screenshot of the package', 'A drawing'])
        const link = page.locator('.readme a.image', { hasText: 'an image elsewhere' })
        assert.equal(await link.count(), 1)
        assert.equal(await page.locator('.readme :text-is("License")').count(), 0)
        await checkView(page, `images-${place.what}${path.replaceAll('/', '-')}`)
      })
  })

for (const place of [still, live])
  test(`${place.what}: a link to a file of the package leads to it`, () =>
    look(place, 'crates/keel/', async page => {
      await page.click('.readme a:text-is("terms")')
      await page.waitForURL(/crates\/keel\/1\.0\.0\/src\/#docs\/TERMS\.txt$/)
      await page.locator('main', { hasText: 'the terms' }).waitFor()
    }))

for (const width of [1100, 390])
  test(`code is copied, tasks are indented, lists follow their script: ${width} px wide`, () =>
    look(
      live,
      'crates/keel/1.0.0/',
      async page => {
        assert.equal(await page.locator('.readme .code-block .copy').count(), 3)
        const copy = page.locator('.readme .code-block .copy').last()
        assert.match(await page.locator('.readme').innerText(), /, and a script\./)
        await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
        await copy.click()
        await page.locator('.code-block .copy[aria-label=Copied]').waitFor()
        assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^fn main\(\) \{\n/)
        const box = async (selector: string) =>
          (await page.locator(selector).first().boundingBox()) ?? assert.fail(selector)
        // Where the text of each level begins.
        const lefts = await page.locator('.readme').evaluate(readme =>
          ['one', 'two', 'three', 'four'].map(text => {
            const walker = document.createTreeWalker(readme, NodeFilter.SHOW_TEXT)
            while (walker.nextNode()?.nodeValue?.trim() !== text);
            const range = document.createRange()
            range.selectNodeContents(walker.currentNode)
            return Math.round(range.getBoundingClientRect().left)
          }),
        )
        const steps = lefts.slice(1).map((left, at) => left - (lefts[at] ?? 0))
        assert.ok(
          steps.every(step => step >= 18 && step <= 30),
          String(lefts),
        )
        const [list, item] = [
          await box('.readme ul:has-text("بالعالم")'),
          await box('li:text("بالعالم")'),
        ]
        assert.ok(list.x + list.width - item.x - item.width > 16, 'its mark is on the right')
        const [first, second] = [
          await box('.readme th:text("مرحبا")'),
          await box('.readme th:text("1.0")'),
        ]
        assert.ok(first.x > second.x, 'its first column is on the right')
        const wide = await page.evaluate(() => document.documentElement.scrollWidth)
        assert.equal(wide, width)
        // Not below the tabs that stay on top.
        await page.evaluate(() => scrollTo(0, 0))
        await checkView(page, `readme-${width}`)
      },
      { viewport: { width, height: 800 } },
    ))

test('daemon: a drawing that is opened can do nothing', () =>
  look(live, 'crates/keel/', async page => {
    const drawing = page.locator('.readme img[alt="A drawing"]')
    const src = await drawing.evaluate(image => (image as HTMLImageElement).src)
    const response = await page.goto(src)
    const headers = response?.headers() ?? {}
    assert.match(headers['content-security-policy'] ?? '', /sandbox/)
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.match(headers['cache-control'] ?? '', /immutable/)
    assert.equal(headers['content-type'], 'image/svg+xml')
    assert.equal(await page.title(), '')
  }))

test('the title of an alert has the colour of its kind', () =>
  look(still, 'crates/keel/', async page => {
    const colours = await page.locator('.markdown-alert').evaluateAll(all =>
      all.map(element => {
        const title = element.querySelector('.markdown-alert-title') ?? element
        return [getComputedStyle(title).color, getComputedStyle(element).borderLeftColor]
      }),
    )
    for (const [title, border] of colours) assert.equal(title, border)
    assert.equal(new Set(colours.map(([title]) => title)).size, 2)
  }))

test('each paragraph of a README begins on the side where its script does', () =>
  look(still, 'crates/keel/', async page => {
    const gaps = await page
      .locator('.readme > p', { hasText: /^(?:Text|مرحبا)/ })
      .evaluateAll(all =>
        all.map(element => {
          const range = document.createRange()
          range.selectNodeContents(element)
          return Math.round(
            range.getBoundingClientRect().left - element.getBoundingClientRect().left,
          )
        }),
      )
    assert.equal(gaps.length, 2)
    assert.equal(gaps[0], 0)
    assert.ok((gaps[1] ?? 0) > 100, `the second begins on the right: ${gaps[1]}`)
  }))
