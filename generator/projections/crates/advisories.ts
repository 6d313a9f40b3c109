import { LRUCache } from 'lru-cache'
import { type Advisory, covers, labelOf } from '../../../core/advisory/advisory.ts'
import { ADVISORIES_SHOWN } from '../../../site/crate/advisories.ts'
import type { VersionRow } from '../../../site/crate-data.ts'
import type { SiteConfig } from '../../../site/site-config.ts'
import type { ReleaseRecord } from '../../records/releases.ts'
import { renderReadme } from '../../sandbox/rendering.ts'

/** A release, with the advisories that cover it. */
export type ShownRelease = ReleaseRecord & Pick<VersionRow, 'advisories'>

/** Leaves out who published a release, unless pages may name people; adds what covers it. */
export function shown({ owners }: SiteConfig, advisories: readonly Advisory[]) {
  return (release: ReleaseRecord): ShownRelease => {
    const about = advisories.filter(each => covers(each, release.version))
    const { publishedBy } = release
    return {
      ...{ ...release, publishedBy: owners ? publishedBy : null },
      ...(about.length > 0 && { advisories: about }),
    }
  }
}

/** The texts that were rendered last: an advisory may cover each version of a crate. */
const texts = new LRUCache<string, Promise<string>>({ max: 32 })

/** Renders what advisories say as READMEs are, but without ids, which a README may have, too. */
export async function textsOf({ advisories = [] }: ShownRelease): Promise<Map<string, string>> {
  const shown = advisories.slice(0, ADVISORIES_SHOWN).filter(({ description }) => description)
  const htmls = new Map<string, string>()
  for (const { id, description } of shown) htmls.set(id, await textOf(description))
  return htmls
}

function textOf(text: string): Promise<string> {
  const known = texts.get(text)
  if (known) return known
  const about = { repository: null, readme_file: 'README.md' }
  const job = { readme: { text, about, images: 'link' as const }, crate: null, source: false }
  const rendered = renderReadme(job).then(({ html }) => html.replaceAll(/ id="[^"]*"/g, ''))
  texts.set(text, rendered)
  rendered.catch(() => texts.delete(text))
  return rendered
}

/** Returns what `crate.json` has of an advisory: not its text, which a file of its own has. */
export function advisoryRecord({ description: _, ...advisory }: Advisory) {
  return { ...advisory, severity: labelOf(advisory) }
}
