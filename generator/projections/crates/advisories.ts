import { type Advisory, covers, labelOf } from '../../../core/advisory/advisory.ts'
import { sha256 } from '../../../core/sha256.ts'
import { ADVISORIES_SHOWN } from '../../../site/crate/advisories.ts'
import type { VersionRow } from '../../../site/crate-data.ts'
import type { SiteConfig } from '../../../site/site-config.ts'
import type { ReleaseRecord } from '../../records/releases.ts'
import { renderReadme } from '../../sandbox/rendering.ts'
import { type PageContext, remembered } from '../context.ts'

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

/** Renders what advisories say as READMEs are, but without ids, which a README may have, too. */
export async function textsOf(context: PageContext, { advisories = [] }: ShownRelease) {
  const texts = new Map<string, string>()
  for (const { id, description: text } of advisories.slice(0, ADVISORIES_SHOWN)) {
    if (text === '') continue
    const about = { repository: null, readme_file: 'README.md' }
    const job = { readme: { text, about, images: 'link' as const }, crate: null, source: false }
    const { html } = await remembered(context, ['advisory', sha256(text)], () => renderReadme(job))
    texts.set(id, html.replaceAll(/ id="[^"]*"/g, ''))
  }
  return texts
}

/** Returns what `crate.json` has of an advisory: not its text, which a file of its own has. */
export function advisoryRecord({ description: _, ...advisory }: Advisory) {
  return { ...advisory, severity: labelOf(advisory) }
}
