import { assets, type SiteFacts, type SiteFile, type StartFacts, siteFacts, startPage } from '../../site/index.ts'
import { type Output, placeOf } from '../paths.ts'
import type { RegistryUrls } from '../urls.ts'

/** What the pages know of a registry's settings. */
export interface Branding {
  readonly name: string
  readonly title: string
  readonly description: string
}

/** The start page and what it is made with: stylesheet, script, mark. */
export function renderStart(branding: Branding, urls: RegistryUrls, isPrivate: boolean, facts: StartFacts): Output[] {
  const site: SiteFacts = siteFacts({
    base: urls.base,
    index: urls.sparseIndex,
    registry: branding.name,
    title: branding.title,
    description: branding.description,
    api: urls.api !== null,
    private: isPrivate,
  })
  return [...assets.map(output), output(startPage(site, facts))]
}

const encoder = new TextEncoder()

function output(file: SiteFile): Output {
  return { ...placeOf(file.path), bytes: typeof file.body === 'string' ? encoder.encode(file.body) : file.body }
}
