import assert from 'node:assert/strict'
import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** A phone, held upright. */
export const PHONE = { viewport: { width: 390, height: 844 } }

/**
 * Opens a page below `url`, lets `work` look at it, and finds no complaint of the browser, the
 * Content-Security-Policy's included, and no request to another host.
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
    page.on('console', message => complaints.push(message.text()))
    page.on('pageerror', error => complaints.push(error.message))
    page.on('request', request => {
      if (!request.url().startsWith(url)) complaints.push(`a request to ${request.url()}`)
    })
    await page.goto(`${url}/${path}`, { waitUntil: 'load' })
    await work(page)
    assert.deepEqual(complaints, [])
  } finally {
    await context.close()
  }
}

/** Nothing sticks out of the window, and axe finds nothing serious. */
export async function checkPage(page: Page): Promise<void> {
  await page.waitForTimeout(50)
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
  assert.ok(wide <= 0, `${wide} pixels too wide`)
  await page.evaluate(axe)
  const found = await page.evaluate(async () => {
    const { axe } = window as unknown as {
      axe: {
        run(): Promise<{
          violations: {
            id: string
            impact: string
            nodes: { html: string; failureSummary: string }[]
          }[]
        }>
      }
    }
    const { violations } = await axe.run()
    return violations.map(
      ({ id, impact, nodes }) =>
        `${impact} ${id}: ${nodes[0]?.html.slice(0, 200)} ${nodes[0]?.failureSummary}`,
    )
  })
  assert.deepEqual(
    found.filter(one => /^(serious|critical)/.test(one)),
    [],
  )
}

/** Keeps a picture of what is seen, when `PLIMSOLL_SCREENSHOTS` names a folder. */
export async function picture(page: Page, name: string, { fullPage = false } = {}): Promise<void> {
  const folder = process.env.PLIMSOLL_SCREENSHOTS
  if (!folder) return
  mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage })
}
