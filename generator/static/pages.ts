import { compareText, dependencyOn } from '../../core/entry/entry.ts'
import { renderEntry } from '../../core/entry/render.ts'
import { type CanonicalName, canonicalName, type Name } from '../../core/name.ts'
import type { Output } from '../../core/output.ts'
import { policyQuestions } from '../../core/policy/policy.ts'
import { newestVersion } from '../../core/version.ts'
import type { DependentRow } from '../../site/crate-data.ts'
import type { SiteConfig } from '../../site/site-config.ts'
import {
  type ListedCrate,
  listedCrate,
  previousOf,
  renderCratePage,
  renderVersionPage,
} from '../render/crate-pages.ts'
import { type ReleaseFacts, renderCrateRecord } from '../render/crate-record.ts'
import { FRONT_LENGTH, renderListing, renderSite } from '../render/site-pages.ts'
import { packagedReadme } from '../render/version-facts.ts'
import { renderReadme } from '../sandbox/readme.ts'
import { renderSource } from '../sandbox/source.ts'
import { digestOf } from './cache.ts'
import type { OutputGroup } from './outputs.ts'
import type { StaticCrate, StaticRelease } from './releases.ts'

/** What the pages of a static tree are made of. */
export interface StaticPages {
  readonly crates: readonly StaticCrate[]
  readonly dl: string
  readonly site: SiteConfig
}

/** A crate, as far as it has to be known before the pages of any other can be rendered. */
interface CrateSummary {
  readonly name: Name
  readonly releases: StaticCrate
  readonly facts: readonly ReleaseFacts[]
  readonly newest: ReleaseFacts
  /** What its pages follow from. */
  readonly identity: readonly unknown[]
}

/** Most dependents that a crate's page names. */
const DEPENDENTS_SHOWN = 100

/**
 * All pages of a static tree. There are no feeds and no times: nothing in a `.crate` says when it
 * was published, and a tree that depends only on the bytes it reads cannot know.
 */
export function* staticPages({ crates, dl, site }: StaticPages): Generator<OutputGroup> {
  const summaries = crates.map(summarize)
  const dependents = findDependents(crates)
  // A digest for all groups: a site configuration may hold a logo.
  const look = digestOf([dl, site])
  for (const summary of summaries) {
    const users = dependents.get(canonicalName(summary.name)) ?? []
    yield {
      id: `pages ${summary.name}`,
      inputs: [look, summary.identity, users],
      render: () => crateOutputs(summary, users, dl, site),
    }
    for (const release of site.source ? summary.releases : []) {
      const { name, version, entry } = release
      yield {
        id: `source ${name} ${version}`,
        inputs: [look, name, version, entry.cksum],
        render: () => sourceOutputs(release, site),
      }
    }
  }
  yield {
    id: 'site',
    inputs: [look, summaries.map(one => one.identity)],
    render: () => sitePages(summaries, dependents, site),
  }
}

async function* crateOutputs(
  { name, facts, newest, releases }: CrateSummary,
  users: readonly DependentRow[],
  dl: string,
  site: SiteConfig,
): AsyncGenerator<Output> {
  const crate = { name, createdAt: null, releases: facts, dependents: users.length }
  yield renderCrateRecord(crate, dl)
  const whole = async (one: ReleaseFacts) => {
    const text = releases.find(release => release.version === one.version)?.readme ?? null
    const rendered = text && (await renderReadme(packagedReadme(one.about, text, site)))
    const readme = rendered ? rendered.html : null
    return { name, release: one, readme, previous: previousOf(facts, one.version) }
  }
  const dependents = users.slice(0, DEPENDENTS_SHOWN)
  const top = await whole(newest)
  yield renderCratePage({ crate, newest: top, owners: [], dependents }, dl, site)
  for (const one of facts)
    yield renderVersionPage(one === newest ? top : await whole(one), dl, site)
}

function sourceOutputs(
  { name, version, path }: StaticRelease,
  site: SiteConfig,
): AsyncGenerator<Output> {
  // It was accepted by the limits of the settings.
  return renderSource({ path, name, version, site, unpackedBytes: Number.POSITIVE_INFINITY })
}

function* sitePages(
  summaries: readonly CrateSummary[],
  dependents: ReadonlyMap<CanonicalName, readonly DependentRow[]>,
  site: SiteConfig,
): Generator<Output> {
  const cards: ListedCrate[] = summaries.map(({ name, newest }) => listedCrate(name, newest, null))
  const keywords = new Map(summaries.map(({ name, newest }) => [name, newest.about.keywords]))
  const versions = summaries.reduce((sum, one) => sum + one.releases.length, 0)
  const first = cards.toSorted((a, b) => compareText(a.name, b.name)).slice(0, FRONT_LENGTH)
  const users = (one: ListedCrate) => dependents.get(canonicalName(one.name))?.length ?? 0
  const addable = cards.filter(one => !one.yanked)
  const example = addable.toSorted((a, b) => users(b) - users(a) || compareText(a.name, b.name))[0]
    ?.name
  const lists = { newest: [], updated: [], first }
  yield* renderSite(site, { crates: cards.length, versions, ...lists, example: example ?? null })
  yield* renderListing(site, cards, name => keywords.get(name) ?? [])
}

function summarize(releases: StaticCrate): CrateSummary {
  const [{ name }] = releases
  const facts = releases.map(release => ({
    version: release.version,
    cksum: release.entry.cksum,
    size: release.size,
    yanked: release.entry.yanked,
    line: renderEntry(release.entry),
    about: release.about,
    publishedAt: null,
    publishedBy: null,
  }))
  const newest = newestVersion(facts)
  if (!newest) throw new Error(`the crate ${name} has no releases`)
  const identity = [name, ...facts.flatMap(one => [one.version, one.cksum, one.yanked])]
  return { name, releases, facts, newest, identity }
}

/** Which crates depend on each with their newest version, as the catalog has it, by name. */
function findDependents(crates: readonly StaticCrate[]): Map<CanonicalName, DependentRow[]> {
  const found = new Map<CanonicalName, DependentRow[]>()
  for (const releases of crates) {
    const newest = newestVersion(
      releases.map(release => ({
        release,
        version: release.version,
        yanked: release.entry.yanked,
      })),
    )
    if (!newest || newest.yanked) continue
    const { name, version, entry } = newest.release
    const names = new Set(policyQuestions(newest.release).ownDependencies.map(canonicalName))
    names.delete(canonicalName(name))
    for (const one of names) {
      const how = dependencyOn(entry.deps, one)
      if (how) found.set(one, [...(found.get(one) ?? []), { name, version, ...how }])
    }
  }
  for (const list of found.values()) {
    list.sort((a, b) => compareText(canonicalName(a.name as Name), canonicalName(b.name as Name)))
  }
  return found
}
