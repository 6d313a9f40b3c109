import type { SiteConfig } from '../site-config.ts'
import { webLink } from './web-link.ts'

/** The public registry, under each index URL that Cargo has used for it. */
const CRATES_IO =
  /^(registry\+https:\/\/github\.com\/rust-lang\/crates\.io-index|https:\/\/github\.com\/rust-lang\/crates\.io-index(\.git)?|sparse\+https:\/\/index\.crates\.io\/?)$/

/** Another registry as people know it, and its page of a crate, where it is known to have one. */
export interface Origin {
  readonly title: string
  readonly url: string | null
}

/** Where a crate of the registry with this index URL is looked at. */
export function originOf(
  site: Pick<SiteConfig, 'registries'>,
  index: string,
  name: string,
): Origin {
  const slashless = index.replace(/\/$/, '')
  const known = site.registries.find(one => one.index.replace(/\/$/, '') === slashless)
  if (known !== undefined)
    return {
      title: known.title,
      url: webLink(known.page?.replaceAll('{crate}', encodeURIComponent(name)) ?? null),
    }
  if (CRATES_IO.test(index))
    return { title: 'crates.io', url: `https://crates.io/crates/${encodeURIComponent(name)}` }
  const url = webLink(index.replace(/^(sparse|registry)\+/, ''))
  return { title: url === null ? index : new URL(url).host, url: null }
}
