import type { SiteConfig } from '../site-config.ts'
import { webLink } from './web-link.ts'

/** Every index URL that Cargo has used for crates.io, without a slash at the end. */
const CRATES_IO = [
  'https://github.com/rust-lang/crates.io-index',
  'https://github.com/rust-lang/crates.io-index.git',
  'registry+https://github.com/rust-lang/crates.io-index',
  'sparse+https://index.crates.io',
]

/** Another registry: its title, and its page of a crate when that is known. */
export interface Origin {
  readonly title: string
  readonly url: string | null
}

/** Where a dependency comes from, by the index URL of its registry. */
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
      url: webLink(known.page.replaceAll('{crate}', encodeURIComponent(name))),
    }
  if (CRATES_IO.includes(slashless))
    return { title: 'crates.io', url: `https://crates.io/crates/${encodeURIComponent(name)}` }
  const url = webLink(index.replace(/^(sparse|registry)\+/, ''))
  return { title: url === null ? index : new URL(url).host, url: null }
}
