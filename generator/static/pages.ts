import { createReadStream } from 'node:fs'
import { dependencyOn } from '../../core/entry/dependency-on.ts'
import { compareText } from '../../core/entry/entry.ts'
import { renderEntry } from '../../core/entry/render.ts'
import { type CanonicalName, canonicalName, type Name } from '../../core/name.ts'
import type { Output } from '../../core/output.ts'
import { policyQuestions } from '../../core/policy/policy.ts'
import type { Release } from '../../core/release/release.ts'
import { readContents } from '../../core/tarball/contents.ts'
import { newestVersion } from '../../core/version.ts'
import type { DependentRow } from '../../site/data/crate.ts'
import { renderReadme } from '../../site/readme/readme.ts'
import type { SiteConfig } from '../../site/site-config.ts'
import { FILE_MAX } from '../../site/source/file.ts'
import {
  type ListedCrate,
  listedCrate,
  previousOf,
  renderCratePage,
  renderVersionPage,
} from '../render/crate-pages.ts'
import { type ReleaseFacts, renderCrateRecord } from '../render/crate-record.ts'
import {
  FRONT_LENGTH,
  renderListing,
  renderSite,
  renderSource,
  SOURCE_BYTES_MAX,
} from '../render/site-pages.ts'
import { packagedReadme } from '../render/version-facts.ts'

/** A release of a static tree, with `yanked` as the settings have it, and where its `.crate` is read. */
export type StaticRelease = Pick<
  Release,
  'name' | 'version' | 'entry' | 'about' | 'size' | 'readme'
> & {
  readonly path: string
}

/** A crate of a static tree: its releases in the order of their versions. */
export type StaticCrate = readonly StaticRelease[]

/** What the pages of a static tree are made of. */
export interface StaticPages {
  readonly crates: readonly StaticCrate[]
  readonly dl: string
  readonly site: SiteConfig
}

/** A crate, as far as it has to be known before the pages of any other can be rendered. */
interface Face {
  readonly name: Name
  readonly facts: readonly ReleaseFacts[]
  readonly newest: ReleaseFacts
}

/** Most dependents that a crate's page names. */
const DEPENDENTS_SHOWN = 100

/**
 * All pages of a static tree. There are no feeds and no times: nothing in a `.crate` says when it was published, and a
 * tree that depends on the bytes it reads alone cannot know.
 */
export async function* staticPages({ crates, dl, site }: StaticPages): AsyncIterable<Output> {
  const faces = crates.flatMap(releases => faceOf(releases) ?? [])
  const dependents = findDependents(crates)
  for (const [at, { name, facts, newest }] of faces.entries()) {
    const releases = crates[at] ?? []
    const users = dependents.get(canonicalName(name)) ?? []
    const crate = { name, createdAt: null, releases: facts, dependents: users.length }
    yield renderCrateRecord(crate, dl)
    const whole = (one: ReleaseFacts) => {
      const text = releases.find(release => release.version === one.version)?.readme ?? null
      const readme = text === null ? null : renderReadme(packagedReadme(one.about, text, site))
      return { name, release: one, readme, previous: previousOf(facts, one.version) }
    }
    yield renderCratePage(
      { crate, newest: whole(newest), owners: [], dependents: users.slice(0, DEPENDENTS_SHOWN) },
      dl,
      site,
    )
    for (const one of facts) yield renderVersionPage(whole(one), dl, site)
    if (site.source) for (const release of releases) yield* sourceOf(release, site)
  }
  yield* sitePages(faces, crates, site)
}

async function* sourceOf(
  { name, version, path }: StaticRelease,
  site: SiteConfig,
): AsyncIterable<Output> {
  const files = await readContents(() => createReadStream(path), {
    fileBytes: FILE_MAX,
    bytes: SOURCE_BYTES_MAX,
    // It was accepted by the limits of the settings.
    unpackedBytes: Number.POSITIVE_INFINITY,
  })
  yield* renderSource(site, { name, version }, files)
}

function* sitePages(
  faces: readonly Face[],
  crates: readonly StaticCrate[],
  site: SiteConfig,
): Iterable<Output> {
  const cards: ListedCrate[] = faces.map(({ name, newest }) => listedCrate(name, newest, null))
  const keywords = new Map(faces.map(({ name, newest }) => [name, newest.about.keywords]))
  const versions = crates.reduce((sum, releases) => sum + releases.length, 0)
  const first = cards.toSorted((a, b) => compareText(a.name, b.name)).slice(0, FRONT_LENGTH)
  yield* renderSite(site, { crates: cards.length, versions, newest: [], updated: [], first })
  yield* renderListing(site, cards, name => keywords.get(name) ?? [])
}

function faceOf(releases: StaticCrate): Face | null {
  const name = releases[0]?.name
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
  return name && newest ? { name, facts, newest } : null
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
