import type { Settings } from '../../core/settings/settings.ts'
import type { RegistryUrls } from '../../core/urls.ts'
import type { SiteConfig } from '../../site/site-config.ts'

/** The site configuration in the settings. `hasTimes`: whether times of publication are known. */
export function siteConfig(settings: Settings, urls: RegistryUrls, hasTimes: boolean): SiteConfig {
  const { registry, pages, auth, owners } = settings
  return {
    base: urls.base,
    dl: urls.dl,
    index: urls.sparseIndex,
    registry: registry.name,
    title: registry.title,
    description: registry.description || 'A Cargo registry.',
    api: urls.api !== null,
    private: auth.required,
    images: pages.images,
    logo: pages.logo,
    stylesheet: pages.stylesheet,
    footer: pages.footer,
    links: pages.links.map(linkOf),
    registries: pages.registries.map(foreignOf),
    source: pages.source,
    owners: owners.public || auth.required,
    feeds: hasTimes,
  }
}

/** `Handbook https://wiki.example/crates`: the words, then the address. */
function linkOf(text: string): { text: string; url: string } {
  const end = text.trimEnd().lastIndexOf(' ')
  return { text: text.slice(0, end).trim(), url: text.slice(end + 1) }
}

/** `Mirror sparse+https://m.example/index/ https://m.example/{crate}/`: title, index, page. */
function foreignOf(text: string): { title: string; index: string; page: string } {
  const words = text.trim().split(/ +/)
  return {
    title: words.slice(0, -2).join(' '),
    index: words.at(-2) ?? '',
    page: words.at(-1) ?? '',
  }
}
