import assert from 'node:assert/strict'
import { appendFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { timestamp } from '../../core/timestamp.ts'
import { addUser, requireUser, setAdmin } from '../../generator/accounts/accounts.ts'
import { makeLink } from '../../generator/accounts/credentials.ts'
import { openRegistry } from '../../generator/open.ts'
import { build } from '../../generator/pages/build.ts'
import { buildPages } from '../../generator/pages/pages.ts'
import { MARK_KINDS } from '../../generator/projections/projections.ts'
import { operatorChange } from '../../generator/records/change.ts'
import { countMarks } from '../../generator/records/marks.ts'
import { initRegistry, type Registry } from '../../generator/registry/registry.ts'
import { launchChromium } from '../support/chromium.ts'
import { Cleanup } from '../support/cleanup.ts'
import { fillRegistry, type HarbourRelease, writeCrates } from '../support/harbour.ts'
import { plimsoll, serve } from '../support/plimsoll.ts'
import { scratch } from '../support/scratch.ts'
import { serveFiles } from '../support/static-server.ts'
import { until } from '../support/until.ts'
import { checkView, visit } from './browsing.ts'

/** The folder of a daemon's registry before it is served. */
const PAST = 'http://127.0.0.1'

/** Milliseconds until the pages of 4,000 crates are rendered on a busy machine. */
const RENDERED_MS = 300_000

/** A way in which the pages of a registry reach a browser. */
export interface Place {
  readonly what: 'static tree' | 'daemon'
  /** Whether the pages know times and people; a static tree's cannot. */
  readonly isLive: boolean
  /** Known when the tests run. */
  url: string
}

/** The browser and the places of a test file. */
export interface Places {
  readonly still: Place
  readonly live: Place
  /** Opens a page of a place as `visit` does. */
  readonly look: (
    place: Place,
    path: string,
    work: (page: Page) => Promise<void>,
    options?: BrowserContextOptions,
  ) => Promise<void>
  /** The browser, when the tests run. */
  readonly browser: () => Browser
}

/** How the places of a file are filled. */
export interface Filling {
  /**
   * Fills the folder of a static tree that is served at `url`; by default, it is the public tree of
   * the daemon.
   */
  readonly still?: (folder: string, url: string) => Promise<void> | void
  /** Fills a new registry, whose daemon runs with the settings `env`. */
  readonly live: (registry: Registry) => Promise<void>
  readonly env?: NodeJS.ProcessEnv
  /** The kind of marks that stay, because their crates have no bytes. */
  readonly lost?: string
}

/**
 * One browser for all tests of a file; before them, a static tree is served below a path by a dumb
 * file server, and a daemon has rendered every page.
 */
export function openPlaces({ still: fillTree, live: fill, env = {}, lost }: Filling): Places {
  const still: Place = { what: 'static tree', isLive: false, url: '' }
  const live: Place = { what: 'daemon', isLive: true, url: '' }
  let browser: Browser
  after(() => browser?.close())
  const cleanup = new Cleanup({ after })
  before(async () => {
    browser = await launchChromium()
    const folder = scratch(cleanup)
    const [out, dir] = [join(folder, 'out'), join(folder, 'registry')]
    mkdirSync(out)
    const server = await serveFiles(fillTree ? out : join(dir, 'public'), '/sub/path')
    cleanup.add(() => server.close())
    await fillTree?.(out, server.url)
    still.url = server.url
    live.url = await daemon(cleanup, dir, fill, env, lost)
  })
  return {
    still,
    live,
    look: ({ url }, path, work, options) => visit(browser, url, path, work, options),
    browser: () => browser,
  }
}

/** Fills both places with releases; `toml` is added to the settings of the static tree. */
export function releasePlaces(
  releases: (index: string) => HarbourRelease[],
  { env = {}, toml = '' }: { env?: NodeJS.ProcessEnv; toml?: string } = {},
): Places {
  return openPlaces({
    async still(out, url) {
      const from = `${out}-from`
      writeCrates(from, releases(`sparse+${url}/index/`), url)
      appendFileSync(join(from, 'plimsoll.toml'), toml)
      const { code, stderr } = await plimsoll(out, ['build', '--from', from, '--out', out], env)
      assert.equal(code, 0, stderr)
    },
    live: registry => fillRegistry(registry, releases(`sparse+${PAST}/index/`)),
    env,
  })
}

/** Serves a filled registry; returns its URL once nothing is left to render. */
async function daemon(
  cleanup: Cleanup,
  dir: string,
  fill: (registry: Registry) => Promise<void>,
  env: NodeJS.ProcessEnv,
  lost?: string,
): Promise<string> {
  const sources = { env: { ...env, PLIMSOLL_REGISTRY_BASE_URL: PAST } }
  await initRegistry(dir, sources, {})
  const registry = await openRegistry(dir, sources)
  try {
    await fill(registry)
    const { url } = await serve(cleanup, dir, env)
    await until(
      async () =>
        (await countMarks(registry.database, MARK_KINDS)).every(({ kind }) => kind === lost),
      () => 'the pages are not rendered',
      RENDERED_MS,
    )
    return url
  } finally {
    await registry.close()
  }
}

/** A new registry that is served with these settings, and what its operator does beside the daemon. */
export async function servedRegistry(cleanup: Cleanup, env: NodeJS.ProcessEnv) {
  const folder = scratch(cleanup)
  const settings = { PLIMSOLL_AUTH_PASSWORD_COST: '14', ...env }
  const dir = join(folder, 'registry')
  await initRegistry(dir, { env: settings }, {})
  const registry = await openRegistry(dir, { env: settings })
  await build(registry)
  await buildPages(registry)
  cleanup.add(() => registry.close())
  const { url } = await serve(cleanup, dir, settings)
  const { database } = registry
  const now = () => operatorChange(timestamp(new Date()))
  const operator = {
    add: (login: string, admin = false) => addUser(database, { login, admin }, now()),
    promote: async (login: string) =>
      setAdmin(registry, await requireUser(database, login), true, now()),
    /** Makes a one-time link for a user. */
    link: async (login: string) => {
      const secret = await makeLink(database, await requireUser(database, login), new Date(), now())
      return `${url}/me/password?link=${secret}`
    },
  }
  return { folder, url, operator }
}

/**
 * Checks how views look: wide and light, then small and dark in the same window. Pictures are named
 * after place and view.
 */
export function testViews(
  look: Places['look'],
  place: Place,
  views: readonly (readonly [what: string, path: string])[],
): void {
  for (const [what, path] of views) {
    test(`${place.what}, ${what}: axe finds nothing serious, nothing sticks out`, () =>
      look(place, path, page => checkView(page, `${place.what}-${what}`)))
  }
}
