import { renderEntry } from '../../../core/entry/entry.ts'
import type { About } from '../../../core/manifest/manifest.ts'
import { inventedEntries } from '../../support/many-crates.ts'
import { Random } from '../../support/random.ts'
import { dependency } from '../../support/release.ts'

/** A crate as the records have it. */
export interface InventedCrate {
  readonly name: string
  readonly about: About
  /** Whether all versions are yanked. */
  readonly isYanked: boolean
  /** In the order of their versions; the last one is the newest. */
  readonly releases: readonly InventedRelease[]
}

export interface InventedRelease {
  readonly version: string
  readonly cksum: string
  /** Its index line. */
  readonly line: string
  readonly time: string
  readonly dependencies: readonly string[]
}

const MOST_VERSIONS = 500
const DAY = 86_400_000
const FIRST = Date.parse('2015-01-01T00:00:00Z')
const LAST = Date.parse('2026-11-01T00:00:00Z')

/**
 * Invented crates, always the same; the first 1,000 of 200,000 equal a run of 1,000. Their numbers
 * of versions are as on crates.io: 3 in the middle, 10 on average, 500 at most. They depend on
 * crates that exist.
 */
export function* inventedCrates(size: number): Iterable<InventedCrate> {
  const entries = inventedEntries(size)
  for (const [at, { name, about, yanked }] of entries.entries()) {
    const generator = new Random(Math.imul(at + 1, 0x9e3779b1))
    const random = () => generator.next()
    const count = Math.min(Math.ceil(3 * Math.exp(1.55 * normal(random)) - 0.5), MOST_VERSIONS)
    // Older crates have more dependents.
    const dependencies = Array.from(
      { length: at === 0 ? 0 : Math.floor(random() * 5) },
      () => entries[Math.floor(at * random() ** 3)]?.name ?? name,
    )
    const deps = [...new Set(dependencies)].map(name => dependency(name, '^0'))
    const began = FIRST + random() * (LAST - FIRST) * 0.8
    const step = Math.min(90 * DAY * random(), (LAST - began) / Math.max(count, 1))
    const releases = Array.from({ length: Math.max(count, 1) }, (_, number) => {
      const version = `${Math.floor(number / 100)}.${Math.floor(number / 10) % 10}.${number % 10}`
      const cksum = Array.from({ length: 8 }, () =>
        Math.floor(random() * 2 ** 32)
          .toString(16)
          .padStart(8, '0'),
      ).join('')
      const time = `${new Date(began + number * step).toISOString().slice(0, 19)}Z`
      const features = { default: ['std'], std: [] }
      const rest = { deps, features, yanked, links: null, rust_version: null, pubtime: time }
      const line = renderEntry({ name, vers: version, cksum, ...rest })
      return { version, cksum, line, time, dependencies: deps.map(dep => dep.name) }
    })
    yield { name, about: aboutOf(about), isYanked: yanked, releases }
  }
}

/** A normally distributed number (Box and Muller). */
function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}

function aboutOf(about: Pick<About, 'keywords' | 'description'>): About {
  const { keywords, description } = about
  const links = { homepage: null, documentation: null, repository: null }
  const files = { license: 'MIT', license_file: null, readme_file: null }
  const rest = { categories: [], authors: [], edition: '2021', badges: {} }
  return { description, keywords, ...links, ...files, ...rest }
}
