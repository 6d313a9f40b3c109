import assert from 'node:assert/strict'
import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { none } from '../support/none.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** A phone, held upright. */
export const PHONE = { viewport: { width: 390, height: 844 } }

/**
 * Opens a page below `url`, lets `work` look at it, and finds no complaint of the browser, the
 * Content-Security-Policy's included, and no request to another host. The page itself may be a 404.
 */
export async function visit(
  browser: Browser,
  url: string,
  path: string,
  work: (page: Page) => Promise<void>,
  options: BrowserContextOptions = {},
): Promise<void> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options })
  try {
    const page = await context.newPage()
    page.setDefaultTimeout(10_000)
    const complaints: string[] = []
    page.on('console', message => {
      const isOfPage = message.location().url === `${url}/${path}`
      if (!isOfPage || !/status of 404/.test(message.text())) complaints.push(message.text())
    })
    page.on('pageerror', error => complaints.push(error.message))
    page.on('request', request => {
      const address = request.url().replace(/^blob:/, '')
      if (!address.startsWith(new URL(url).origin)) complaints.push(`a request to ${request.url()}`)
    })
    await page.goto(`${url}/${path}`, { waitUntil: 'load' })
    await work(page)
    assert.deepEqual(complaints, [])
  } finally {
    await context.close()
  }
}

/**
 * Asserts that nothing sticks out of the window or shows what it hides, once the page is painted,
 * with its search results and its package.
 */
export async function checkLayout(page: Page): Promise<void> {
  const waiting = '[data-status]:empty, [data-sources][data-checksum=unchecked], [aria-busy=true]'
  await page.waitForFunction(css => document.querySelector(css) === null, waiting)
  await page.evaluate(async () => {
    await document.fonts.ready
    for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame)
  })
  await checkSize(page)
  await checkOverlays(page)
}

/** Asserts that the layout is right, and that axe finds nothing serious. */
export async function checkPage(page: Page): Promise<void> {
  await checkLayout(page)
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe)
  const result = await page.evaluate(async () => {
    const ofReadme = ([selector = '']: string[]) =>
      document.querySelector(selector)?.closest('.readme') !== null
    const { axe } = window as unknown as {
      axe: {
        run(options: {
          resultTypes: string[]
          rules: Record<string, { enabled: boolean }>
        }): Promise<{
          violations: {
            id: string
            impact: string
            nodes: { html: string; failureSummary: string; target: string[] }[]
          }[]
        }>
      }
    }
    const { violations: all } = await axe.run({
      resultTypes: ['violations'],
      // Part of WCAG 2.2, which axe leaves out by default.
      rules: { 'target-size': { enabled: true } },
    })
    // Authors of READMEs choose the size of their links.
    const violations = all.filter(
      ({ id, nodes }) => id !== 'target-size' || nodes.some(({ target }) => !ofReadme(target)),
    )
    return violations.map(
      ({ id, impact, nodes }) =>
        `${impact} ${id}: ${nodes[0]?.html.slice(0, 200)} ${nodes[0]?.failureSummary}`,
    )
  })
  none(result)
}

/** Nothing sticks out of the window. */
export async function checkSize(page: Page): Promise<void> {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
  assert.ok(wide <= 0, `${wide} pixels too wide`)
}

/** Returns the elements that an element placed over the page hides. */
export async function checkOverlays(page: Page): Promise<string[]> {
  const measured = await page.evaluate(() => {
    /** Whether it lies over something that it is not part of; pointers do not reach an icon. */
    const isOver = (element: Element): boolean => {
      const { left, top, width, height } = element.getBoundingClientRect()
      return [0.05, 0.5, 0.95].some(across =>
        [0.05, 0.5, 0.95].some(down => {
          const stack = document.elementsFromPoint(left + width * across, top + height * down)
          const at = stack.findIndex(item => element.contains(item))
          const below = stack.slice(at + 1).filter(item => !element.contains(item))
          return at >= 0 && below.some(item => !item.contains(element))
        }),
      )
    }
    return [...document.body.querySelectorAll('*')].flatMap(element => {
      const { position, zIndex, backgroundColor, backgroundImage } = getComputedStyle(element)
      const isPlaced = ['absolute', 'fixed', 'sticky'].includes(position)
      if (!isPlaced || !element.checkVisibility()) return []
      if (zIndex === 'auto' && !isOver(element)) return []
      const isOpaque = /^rgb\(/.test(backgroundColor) || backgroundImage !== 'none'
      return [{ name: `${element.localName}.${element.className}`, isOpaque }]
    })
  })
  none(measured.filter(item => !item.isOpaque))
  return measured.map(item => item.name)
}

/** The addresses of links. */
export function linksOf(page: Page, css: string): Promise<string[]> {
  return page.locator(css).evaluateAll(all => all.map(link => (link as HTMLAnchorElement).href))
}

/** Saves a picture of the page when `SCREENSHOTS` names a folder. */
export async function picture(page: Page, name: string, { fullPage = false } = {}): Promise<void> {
  const folder = process.env.SCREENSHOTS
  if (!folder) return
  mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage })
}

/** Checks an open page as it is, and in the dark on a phone; with a picture of each. */
export async function checkView(page: Page, name: string): Promise<void> {
  const file = name.replaceAll(' ', '-')
  await checkPage(page)
  await picture(page, file)
  await page.setViewportSize(PHONE.viewport)
  await page.emulateMedia({ colorScheme: 'dark' })
  await checkPage(page)
  await picture(page, `${file}-in-the-dark-on-a-phone`)
}
