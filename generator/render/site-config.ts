import type { Settings } from '../../core/settings/settings.ts'
import type { RegistryUrls } from '../../core/urls.ts'
import type { ForeignRegistry, SiteConfig, SiteLink } from '../../site/site-config.ts'

/** Returns the site configuration. `hasTimes`: whether there is a catalog, which knows times. */
export function siteConfig(settings: Settings, urls: RegistryUrls, hasTimes: boolean): SiteConfig {
  const { registry, pages, auth, owners } = settings
  return {
    ...pages,
    base: urls.base,
    dl: urls.dl,
    index: urls.sparseIndex,
    registry: registry.name,
    title: registry.title,
    description: registry.description || 'A Cargo registry.',
    api: urls.api !== null,
    apiUrl: (urls.api ?? urls.base).replace(/\/+$/, ''),
    private: auth.required,
    links: pages.links.map(linkOf),
    registries: pages.registries.map(foreignOf),
    owners: owners.public || auth.required,
    feeds: hasTimes,
    downloads: hasTimes && settings.downloads.count !== 'off',
  }
}

/** Parses `Handbook https://wiki.example/crates`: the text, then the URL. */
function linkOf(text: string): SiteLink {
  const words = text.trim().split(/ +/)
  return { text: words.slice(0, -1).join(' '), url: words.at(-1) ?? '' }
}

/** Parses `Mirror sparse+https://m.example/index/ https://m.example/{crate}/`. */
function foreignOf(text: string): ForeignRegistry {
  const words = text.trim().split(/ +/)
  const [index = '', page = ''] = words.slice(-2)
  return { title: words.slice(0, -2).join(' '), index, page }
}
