import { compareText, dependencyNames, dependencyOn } from '../../core/entry/entry.ts'
import { renderEntry } from '../../core/entry/render.ts'
import { type CanonicalName, canonicalName, sortByName } from '../../core/name.ts'
import { changesPath } from '../../core/paths/crates.ts'
import { type Output, output } from '../../core/paths/tree.ts'
import { newestVersion } from '../../core/version.ts'
import { readFileSum } from '../../site/compare/file-sum.ts'
import { versionPage } from '../../site/crate/page.ts'
import type { CrateData, DependentRow } from '../../site/crate-data.ts'
import type { SiteConfig } from '../../site/site-config.ts'
import {
  comparedVersion,
  DEPENDENTS_SHOWN,
  renderCratePages,
  renderCrateRecord,
  versionData,
} from '../render/crate.ts'
import { commonOf, labelsIn, renderListing } from '../render/listing.ts'
import { FRONT_KEYWORDS, FRONT_LENGTH, renderSite } from '../render/site-pages.ts'
import { byDependents } from '../render/views.ts'
import { renderComparison, renderSource } from '../sandbox/rendering.ts'
import type { Package } from '../sandbox/source-task.ts'
import type { PublicTree } from '../store/public-tree.ts'
import { digestOf, type OutputGroup } from './cache.ts'
import type { StaticImages } from './images.ts'
import type { StaticCrate } from './releases.ts'

/** What must be known of every crate before pages can be rendered. */
type CrateSummary = ReturnType<typeof summarize>
type ShownRelease = CrateSummary['releases'][number]

/** For each crate, the crates whose newest version depends on it, by name as in the catalog. */
type Dependents = ReadonlyMap<CanonicalName, readonly DependentRow[]>

/**
 * Renders all pages of a static tree. There are no feeds and no times: a `.crate` does not contain
 * its publish time, and the tree depends only on the bytes read. Groups have to be written in this
 * order: the pages of a crate say what its pages of changes, which `tree` has by then, sum up.
 */
export function* staticPages(
  crates: readonly StaticCrate[],
  site: SiteConfig,
  images: StaticImages,
  tree: PublicTree,
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
        inputs: [look, name, version, cksum],
        render: () => sourceOutputs(release, site),
      }
      if (previous === null) continue
      yield {
        id: `changes ${name} ${version}`,
        inputs: [look, name, version, cksum, previous.version, previous.cksum],
        render: () => changeOutputs(previous, release, site),
      }
    }
    yield {
      id: `pages ${summary.name}`,
      inputs: [look, summary.identity, users, [...here]],
      render: () => crateOutputs(summary, users, here, site, images, tree),
      isDue: () => site.images === 'copy' && images.isDue(summary.name),
    }
  }
  yield {
    id: 'site',
    inputs: [look, summaries.map(one => one.identity)],
    render: () => sitePages(summaries, dependents, site),
  }
}

/** How many READMEs are held in memory, to download their images together. */
const TOGETHER = 4

async function* crateOutputs(
  { name, releases, newest }: CrateSummary,
  users: readonly DependentRow[],
  here: CrateData['here'],
  site: SiteConfig,
  images: StaticImages,
  tree: PublicTree,
): AsyncGenerator<Output> {
  const dependents = users.slice(0, DEPENDENTS_SHOWN)
  const counts = { owners: [], dependents, dependentCount: users.length, downloads: false }
  const crate = { name, createdAt: null, releases, here, ...counts }
  yield renderCrateRecord(crate, site)
  let readmes: readonly (string | null)[] = []
  for (const [at, release] of releases.entries()) {
    if (at % TOGETHER === 0) {
      const some = releases
        .slice(at, at + TOGETHER)
        .map(({ readme: text, about, path }) =>
          text ? { text, about, images: site.images, crate: path } : null,
        )
      const { htmls, files } = await images.render(name, some)
      yield* files
      readmes = htmls
    }
    const previous = releases[at - 1] ?? null
    const compared =
      site.source && previous ? await tree.read(changesPath(name, release.version)) : null
    const diff = compared && readFileSum(compared)
    const more = { readme: readmes[at % TOGETHER] ?? null, previous, source: site.source, diff }
    const version = versionData(site, name, release, more)
    yield versionPage(site, version)
    if (release === newest) yield* renderCratePages(site, crate, version)
  }
}

function sourceOutputs(release: ShownRelease, site: SiteConfig): AsyncGenerator<Output> {
  const { name, version, about } = release
  return renderSource({ package: packageOf(release), name, version, site, place: about })
}

async function* changeOutputs(
  before: ShownRelease,
  after: ShownRelease,
  site: SiteConfig,
): AsyncGenerator<Output> {
  const { name, version } = after
  const side = (one: ShownRelease) => ({ version: comparedVersion(one), hasPages: true })
  const path = changesPath(name, version)
  const sides = { before: side(before), after: side(after) }
  const comparison = { site, path, name, ...sides, versions: null }
  const packages = { before: packageOf(before), after: packageOf(after) }
  yield output(path, (await renderComparison({ comparison, ...packages })).html)
}

/** It was already checked against the limits of the settings. */
function packageOf({ path }: ShownRelease): Package {
  return { path, unpackedBytes: Number.POSITIVE_INFINITY }
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
