import { type SiteFacts, siteFacts } from '../../site/facts/site.ts'
import type { Settings } from '../../core/settings/settings.ts'
import type { RegistryUrls } from '../../core/urls.ts'


/** How the pages of a registry look and what they may tell. */
export interface Look {
  readonly site: SiteFacts
  /** Whether there is a source browser. */
  readonly source: boolean
  /** Whether pages name the owners of a crate; those who may not list them may not read them there, either. */
  readonly owners: boolean
}

/** The look that the settings ask for; `lively`: with times. */
export function lookOf(settings: Settings, urls: RegistryUrls, lively: boolean): Look {
  const { registry, pages, auth, owners } = settings
  const site = siteFacts({
    base: urls.base,
    index: urls.sparseIndex,
    registry: registry.name,
    title: registry.title,
    api: urls.api !== null,
    private: auth.required,
    images: pages.images,
    logo: pages.logo,
    stylesheet: pages.stylesheet,
    footer: pages.footer,
    links: pages.links.map(linkOf),
    registries: pages.registries.map(foreignOf),
    feeds: lively,
    ...(registry.description !== '' && { description: registry.description }),
  })
  return { site, source: pages.source, owners: owners.public || auth.required }
}

/** `Handbook https://wiki.example/crates`: the words, then the address. */
function linkOf(text: string): { text: string; url: string } {
  const end = text.trimEnd().lastIndexOf(' ')
  return { text: text.slice(0, end).trim(), url: text.slice(end + 1) }
}

/** `Mirror sparse+https://m.example/index/ https://m.example/crates/{crate}/`: title, index, page of a crate. */
function foreignOf(text: string): { title: string; index: string; page: string } {
  const words = text.trim().split(/ +/)
  return { title: words.slice(0, -2).join(' '), index: words.at(-2) ?? '', page: words.at(-1) ?? '' }
}
