import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Output } from '../../core/paths/tree.ts'
import { cargoConfig, cargoSetup } from '../../core/upstream/cargo-config.ts'
import { registryUrls } from '../../core/urls/urls.ts'
import { auditPage } from '../../site/account/audit-page.ts'
import type { Viewer } from '../../site/account/frame.ts'
import { homePage } from '../../site/account/home-page.ts'
import { loginPage } from '../../site/account/login-page.ts'
import { confirmPage, managePage } from '../../site/account/manage-page.ts'
import { type StatusData, statusPage } from '../../site/account/status-page.ts'
import { usersPage } from '../../site/account/users-page.ts'
import { badge } from '../../site/crate/badge.ts'
import { changesPage } from '../../site/crate/changes.ts'
import { cratePage, versionPage } from '../../site/crate/page.ts'
import type { CrateData, CrateItem } from '../../site/crate-data.ts'
import { assets } from '../../site/layout/assets.ts'
import { frontPage } from '../../site/pages/front.ts'
import { notFoundPage } from '../../site/pages/not-found.ts'
import { searchPage, staticSearchPage } from '../../site/pages/search.ts'
import { openSearch, robots } from '../../site/pages/search-engines.ts'
import type { SiteConfig } from '../../site/site-config.ts'
import { comparePage, sourcePage } from '../../site/source/page.ts'
import { card } from './demo-facts.ts'
import { renderListing } from './listing.ts'
import { searchFiles } from './whole-search.ts'

/** Everything in a static tree for some crates; `cards`: the crates on lists, if more. */
export function* demoSite(
  site: SiteConfig,
  crates: readonly CrateData[],
  cards: readonly CrateItem[] = crates.map(crate => card(crate.newest)),
): Generator<Output> {
  const latest = [...crates].sort((a, b) =>
    (a.newest.publishedAt ?? '') < (b.newest.publishedAt ?? '') ? 1 : -1,
  )
  yield* assets
  yield frontPage(site, {
    crates: cards.length,
    versions: crates.reduce((sum, crate) => sum + crate.versions.length, 0),
    newest: latest.slice(0, 5).map(crate => card(crate.newest)),
    keywords: [{ slug: 'cli', crates: 1 }],
    updated: latest.slice(0, 8).map(crate => card(crate.newest)),
    example: crates[0]?.name ?? null,
  })
  for (const crate of crates) {
    yield cratePage(site, crate)
    yield badge({ name: crate.name, version: crate.newest.version, yanked: crate.newest.yanked })
    yield versionPage(site, crate.newest)
    yield sourcePage(site, crate.newest, SOURCES)
    if (crate.versions.length > 1) yield comparePage(site, crate)
    if (crate.newest.previous) yield changesPage(site, crate.newest, crate.newest.previous)
  }
  const listed = cards.map(crate => ({
    dependents: 0,
    bytes: 1,
    ...crate,
    about: { categories: [], license: null, ...crate.about },
  }))
  yield* renderListing(site, listed, { versions: listed.length, bytes: listed.length })
  yield* searchFiles(listed)
  yield staticSearchPage(site)
  yield robots(site)
  yield openSearch(site)
  yield notFoundPage(site)
}

/** Pages of the daemon, as files, so that a browser can look at them. */
export function* demoAccount(site: SiteConfig, crates: readonly CrateData[]): Generator<Output> {
  const viewer = { login: 'ada', admin: true, csrf: 'c5rf' }
  const page = (path: string, body: string): Output => ({
    path: `${path}.html`,
    contentType: 'text/html',
    bytes: Buffer.from(body),
    cache: 'revalidate',
  })
  const token = {
    id: 7,
    name: 'laptop',
    scopes: [],
    crates: [],
    created: '2026-10-01T10:00:00Z',
    expires: null,
    lastUsed: null,
    expired: false,
  }
  const notice = { kind: 'done', text: 'The token was made.' } as const
  yield page(
    'me/login',
    loginPage(site, {
      csrf: 'c5rf',
      login: '',
      next: null,
      notice: { kind: 'failed', text: 'The username or the password is wrong.' },
      reset: null,
    }),
  )
  yield page(
    'me',
    homePage(site, {
      viewer,
      notice,
      newToken: `plim_${'x'.repeat(38)}`,
      draft: null,
      tokens: [
        token,
        {
          ...token,
          id: 8,
          name: 'CI of harbour',
          scopes: ['publish-update', 'yank'],
          crates: ['harbour', 'harbour-*'],
          expires: '2026-11-01T00:00:00Z',
          lastUsed: '2026-10-30T00:00:00Z',
          expired: true,
        },
      ],
      crates: crates.map(crate => crate.name),
      cratesPosition: { page: 1, last: 2 },
      invitations: [
        {
          crate: 'rudder',
          by: 'grace',
          at: '2026-11-19T10:00:00Z',
          expires: '2026-12-19T10:00:00Z',
        },
      ],
      sessions: [
        {
          id: 1,
          created: '2026-11-01T10:00:00Z',
          lastSeen: '2026-11-20T10:00:00Z',
          agent: 'Firefox on Linux',
          current: true,
        },
        {
          id: 2,
          created: '2026-11-02T10:00:00Z',
          lastSeen: '2026-11-12T10:00:00Z',
          agent: 'Chrome on Android',
          current: false,
        },
      ],
    }),
  )
  const first = crates[0]
  if (first !== undefined) {
    yield page(
      `me/crates/${first.name}`,
      managePage(site, {
        viewer,
        notice: null,
        name: first.name,
        versions: first.versions,
        owners: first.owners,
        invited: [
          {
            login: 'grace',
            by: 'ada',
            at: '2026-11-20T12:00:00Z',
            expires: '2026-12-20T12:00:00Z',
          },
        ],
      }),
    )
    yield page(
      `me/crates/${first.name}/yank`,
      confirmPage(site, viewer, first.name, { action: 'yank', version: first.newest.version }),
    )
  }
  const user = {
    login: 'grace',
    name: 'Grace H.',
    admin: false,
    locked: true,
    removed: false,
    created: '2026-01-01T00:00:00Z',
    lastSeen: null,
    crates: 3,
  }
  yield page(
    'me/admin/users',
    usersPage(site, {
      viewer,
      notice: null,
      users: [{ ...user, login: 'ada', admin: true, locked: false }, user],
      usersPosition: { page: 2, last: 3 },
      filter: '',
      draft: null,
      resetLink: { login: 'grace', url: `${site.base}/me/login?reset=abc` },
    }),
  )
  yield page(
    'me/admin/audit',
    auditPage(site, {
      viewer,
      rows: [
        {
          at: '2026-11-20T10:00:00Z',
          actor: 'ada',
          action: 'yank',
          crate: 'keel',
          version: '1.3.1',
          user: null,
          detail: 'using token “laptop”, from 192.0.2.1',
        },
        {
          at: '2026-11-20T09:59:00Z',
          actor: 'command line',
          action: 'owner-add',
          crate: 'a-crate-with-a-rather-long-name-for-a-phone',
          version: null,
          user: 'grace',
          detail: null,
        },
      ],
      conditions: { user: 'ada', crate: '', action: 'yank' },
      actions: ['owner-add', 'yank'],
      older: '?before=5',
      newer: null,
    }),
  )
  yield page('me/admin/status', statusPage(site, demoStatus(viewer)))
  yield page(
    'search/results',
    searchPage(site, {
      request: { q: 'biling', filters: { license: 'MIT' }, sort: 'name', page: 2 },
      outcome: {
        total: 40,
        leniency: {
          similar: [{ word: 'biling', others: ['billing'] }],
          suggested: [],
          missing: [],
        },
        matched: 1,
        words: 1,
      },
      crates: crates.map(crate => card(crate.newest)),
      page: 2,
      last: 4,
    }),
  )
}

function demoStatus(viewer: Viewer): StatusData {
  const at = '2026-11-20T10:00:00Z'
  const nobody = { crate: null, version: null, retryAt: null }
  return {
    viewer,
    at,
    started: '2026-11-17T05:59:00Z',
    crates: 20_000,
    versions: 200_000,
    users: 12,
    index: 'sparse+https://crates.example/index/',
    daemon: 'process 7 at http://127.0.0.1:8080, version 0.1.0',
    warnings: [],
    disks: [{ what: 'Disk', free: 80 * 1024 ** 3, size: 250 * 1024 ** 3 }],
    databaseBytes: 5_000_000,
    memoryBytes: 200_000_000,
    programs: [['Plimsoll', '1.0.0']],
    gitIndex: 'none; `git.index` is "off"',
    pending: [{ what: 'source browsers', n: 10_000, isMore: true }],
    errors: [{ ...nobody, what: 'git push', why: '`origin` cannot be reached', at }],
    failed: [
      {
        what: 'page, 2 attempts',
        crate: 'keel',
        version: null,
        why: 'EIO: i/o error',
        at: null,
        retryAt: '2026-11-20T10:05:00Z',
      },
    ],
    plain: [],
  }
}

function demoBlock(base: string, { api = true, private: required = false }: Partial<SiteConfig>) {
  const settings = { registry: { name: 'harbour' }, auth: { required }, upstream: {} }
  const web = api ? 'auto' : 'none'
  const urls = registryUrls({ base_url: base, api: web, dl: 'auto', aliases: [] }, base)
  return cargoConfig(cargoSetup(settings, urls))
}

/** The facts of an invented registry at an address. */
export function demoFacts(base: string, more: Partial<SiteConfig> = {}): SiteConfig {
  return {
    base,
    dl: `${base}/crates`,
    packages: [],
    cargoConfig: demoBlock(base, more),
    title: 'Harbour Crates',
    description: 'The Rust crates of the Harbour teams.',
    registry: 'harbour',
    docs: null,
    cratesIo: true,
    api: true,
    apiUrl: base,
    registries: [
      {
        index: 'sparse+https://crates.other.example/index/',
        title: 'Other Crates',
        page: 'https://crates.other.example/crates/{crate}/',
      },
    ],
    source: true,
    owners: true,
    feeds: true,
    downloads: true,
    upstreams: false,
    private: false,
    images: 'link',
    logo: null,
    stylesheet: null,
    links: [],
    footer: null,
    ...more,
  }
}

/** Writes files below a folder. */
export function writeSite(folder: string, files: Iterable<Output>): string[] {
  const paths: string[] = []
  for (const { path, bytes } of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), bytes)
    paths.push(path)
  }
  return paths
}

const SOURCES = [
  'Cargo.toml',
  'src/lib.rs',
  'src/deep/mod.rs',
  'docs/index.html',
  'odd #name%3f.md',
  "a b & 'c' &lt;i&gt;.txt",
].map(path => ({ path, size: path.length * 100 }))
