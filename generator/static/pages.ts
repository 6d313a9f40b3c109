import { compareText, dependencyNames, dependencyOn } from '../../core/entry/entry.ts'
import { renderEntry } from '../../core/entry/render.ts'
import { type CanonicalName, canonicalName, sortByName } from '../../core/name.ts'
import { imagePath } from '../../core/paths/crates.ts'
import { type Output, output } from '../../core/paths/tree.ts'
import { newestVersion } from '../../core/version.ts'
import { versionPage } from '../../site/crate/page.ts'
import type { CrateData, DependentRow } from '../../site/crate-data.ts'
import type { SiteConfig } from '../../site/site-config.ts'
import { searchFiles } from '../projections/search/whole.ts'
import {
  DEPENDENTS_SHOWN,
  renderCratePages,
  renderCrateRecord,
  renderSourcePages,
  versionData,
} from '../render/crate.ts'
import { commonOf, labelsIn, renderListing } from '../render/listing.ts'
import { FRONT_KEYWORDS, FRONT_LENGTH, renderSite } from '../render/site-pages.ts'
import { byDependents } from '../render/views.ts'
import { listFiles } from '../sandbox/archive.ts'
import { renderReadme } from '../sandbox/rendering.ts'
import { digestOf, type OutputGroup } from './cache.ts'
import type { StaticCrate } from './releases.ts'

/** What must be known of every crate before pages can be rendered. */
type CrateSummary = ReturnType<typeof summarize>
type ShownRelease = CrateSummary['releases'][number]

/** For each crate, the crates whose newest version depends on it, by name as in the catalog. */
type Dependents = ReadonlyMap<CanonicalName, readonly DependentRow[]>

/**
 * Renders all pages of a static tree. There are no feeds and no times: a `.crate` does not contain
 * its publish time, and the tree depends only on the bytes read.
 */
export function* staticPages(
  crates: readonly StaticCrate[],
  site: SiteConfig,
): Generator<OutputGroup> {
  const summaries = crates.map(summarize)
  const dependents = findDependents(summaries)
  const names = new Map(summaries.map(({ name }) => [canonicalName(name), name]))
  // One digest for all groups, because a site configuration may contain a logo.
  const look = digestOf(site)
  for (const summary of summaries) {
    const users = dependents.get(canonicalName(summary.name)) ?? []
    const here = namesakesOf(summary, names)
    for (const [at, release] of (site.source ? summary.releases : []).entries()) {
      const { name, version, cksum } = release
      const previous = summary.releases[at - 1] ?? null
      yield {
        id: `source ${name} ${version}`,
        inputs: [look, name, version, cksum, previous?.version, previous?.cksum],
        render: () => sourceOutputs(release, previous, site),
      }
    }
    yield {
      id: `pages ${summary.name}`,
      inputs: [look, summary.identity, users, [...here]],
      render: () => crateOutputs(summary, users, here, site),
    }
  }
  yield {
    id: 'site',
    inputs: [look, summaries.map(one => one.identity)],
    render: () => sitePages(summaries, dependents, site),
  }
}

/** How many READMEs are rendered beside each other. */
const TOGETHER = 4

async function* crateOutputs(
  { name, releases, newest }: CrateSummary,
  users: readonly DependentRow[],
  here: CrateData['here'],
  site: SiteConfig,
): AsyncGenerator<Output> {
  const dependents = users.slice(0, DEPENDENTS_SHOWN)
  const counts = { owners: [], dependents, dependentCount: users.length, downloads: false }
  const crate = { name, createdAt: null, releases, here, ...counts }
  yield renderCrateRecord(crate, site)
  let readmes: Awaited<ReturnType<typeof readmeOf>>[] = []
  for (const [at, release] of releases.entries()) {
    if (at % TOGETHER === 0)
      readmes = await Promise.all(
        releases.slice(at, at + TOGETHER).map(one => readmeOf(one, site.images)),
      )
    const previous = releases[at - 1] ?? null
    const readme = readmes[at % TOGETHER]
    for (const { name: image, bytes } of readme?.files ?? [])
      yield output(imagePath(name, release.version, image), Buffer.from(bytes))
    const html = readme?.html ?? null
    const version = versionData(site, name, release, { readme: html, previous })
    yield versionPage(site, version)
    if (release === newest) yield* renderCratePages(site, crate, version)
  }
}

/** Renders the README of a release; null if it has none. */
async function readmeOf({ readme: text, about, path }: ShownRelease, images: SiteConfig['images']) {
  if (!text) return null
  const crate = { path, unpackedBytes: Number.POSITIVE_INFINITY }
  return renderReadme({ readme: { text, about, images }, crate })
}

async function* sourceOutputs(
  release: ShownRelease,
  previous: ShownRelease | null,
  site: SiteConfig,
): AsyncGenerator<Output> {
  const version = versionData(site, release.name, release, { readme: null, previous })
  yield* renderSourcePages(site, version, await listFiles(release.path, release.size))
}

function* sitePages(
  summaries: readonly CrateSummary[],
  dependents: Dependents,
  site: SiteConfig,
): Generator<Output> {
  const users = (name: string) => dependents.get(canonicalName(name))?.length ?? 0
  const cards = summaries.map(({ name, newest }) => {
    const { version, about, yanked, entry, size: bytes } = newest
    const facts = { rust: entry.rust_version, dependents: users(name), bytes }
    return { name, newest: version, about, updatedAt: null, yanked, ...facts }
  })
  const releases = summaries.flatMap(one => one.releases)
  const byName = cards.toSorted((a, b) => compareText(a.name, b.name))
  const [example] = byDependents(byName.filter(one => !one.yanked))
  yield* renderSite(site, {
    crates: cards.length,
    versions: releases.length,
    newest: [],
    updated: [],
    first: byName.slice(0, FRONT_LENGTH),
    keywords: commonOf(labelsIn(cards), 'keyword', FRONT_KEYWORDS),
    example: example?.name ?? null,
  })
  const bytes = releases.reduce((sum, one) => sum + one.size, 0)
  yield* renderListing(site, cards, { versions: releases.length, bytes })
  yield* searchFiles(cards)
}

function summarize(crate: StaticCrate) {
  const [{ name }] = crate
  const releases = crate.map(release => ({
    ...release,
    cksum: release.entry.cksum,
    yanked: release.entry.yanked,
    rust_version: release.entry.rust_version,
    line: renderEntry(release.entry),
    publishedAt: null,
    publishedBy: null,
  }))
  const newest = newestVersion(releases)
  if (!newest) throw new Error(`the crate ${name} has no releases`)
  // Everything that its pages depend on.
  const identity = [name, ...releases.flatMap(one => [one.version, one.cksum, one.yanked])]
  return { name, releases, newest, identity }
}

/** Returns the crates that have the name of a dependency from another registry. */
function namesakesOf(
  { newest }: CrateSummary,
  names: ReadonlyMap<CanonicalName, string>,
): CrateData['here'] {
  const here = new Map<string, string>()
  for (const [one, isElsewhere] of dependencyNames(newest.entry.deps)) {
    const twin = names.get(one)
    if (isElsewhere && twin !== undefined) here.set(one, twin)
  }
  return here
}

function findDependents(summaries: readonly CrateSummary[]): Dependents {
  const found = new Map<CanonicalName, DependentRow[]>()
  for (const { name, newest } of sortByName(summaries)) {
    if (newest.yanked) continue
    for (const one of dependencyNames(newest.entry.deps).keys()) {
      if (one === canonicalName(name)) continue
      const how = dependencyOn(newest.entry.deps, one)
      const row = how && { name, version: newest.version, ...how }
      const rows = found.get(one)
      if (row && rows) rows.push(row)
      else if (row) found.set(one, [row])
    }
  }
  return found
}
