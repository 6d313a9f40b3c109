import { isCratesIo } from '../../core/index-url.ts'
import { isBucket, parseBucketAddress } from '../../core/paths/bucket.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { cargoConfig, cargoSetup } from '../../core/upstream/cargo-config.ts'
import type { RegistryUrls } from '../../core/urls/urls.ts'
import type { ForeignRegistry, SiteConfig, SiteLink } from '../../site/site-config.ts'

/** Returns the site configuration. `hasTimes`: whether there are records, which know times. */
export function siteConfig(settings: Settings, urls: RegistryUrls, hasTimes: boolean): SiteConfig {
  const { registry, pages, auth, owners, policy } = settings
  return {
    ...pages,
    base: urls.base,
    dl: urls.dl,
    packages: packageOrigins(settings, urls),
    cargoConfig: cargoConfig(cargoSetup(settings, urls)),
    registry: registry.name,
    title: registry.title,
    description: registry.description || 'A Cargo registry.',
    api: urls.api !== null,
    apiUrl: (urls.api ?? urls.base).replace(/\/+$/, ''),
    private: auth.required,
    links: pages.links.map(linkOf),
    registries: pages.registries.map(foreignOf),
    cratesIo: policy.foreign_registries !== 'error' || policy.allowed_registries.some(isCratesIo),
    owners: owners.public,
    categories: policy.unknown_category === 'off' ? [] : policy.categories,
    feeds: hasTimes,
    upstreams: hasTimes && Object.keys(settings.upstream).length > 0,
    downloads: hasTimes && settings.downloads.count !== 'off',
  }
}

/** Returns the origins besides that of the pages from which a browser gets `.crate` files. */
function packageOrigins({ storage }: Settings, { base, dl }: RegistryUrls): string[] {
  const places = [dl, ...(isBucket(storage.crates) ? redirectTargets(storage) : [])]
  const origins = places.flatMap(
    place => /^https?:\/\/[\w.*:[\]-]+(?=\/|$)/i.exec(place)?.[0] ?? [],
  )
  const own = new URL(base).origin
  return [...new Set(origins)].filter(origin => origin !== own)
}

/** Returns where the daemon redirects downloads to: the bucket, in either way to write it. */
function redirectTargets({ downloads, endpoint, crates }: Settings['storage']): string[] {
  if (downloads !== 'presign') return [downloads]
  if (endpoint === null) return ['https://*.amazonaws.com']
  const { bucket = '' } = parseBucketAddress(crates) ?? {}
  return [endpoint, endpoint.replace('//', `//${bucket}.`)]
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
