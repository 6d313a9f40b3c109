import { posix } from 'node:path'
import type { Linker } from '../elements/links.ts'
import { ID_PREFIX, type ReadmePlace } from '../readme/links.ts'
import { README_MAX, renderReadme } from '../readme/readme.ts'
import type { SiteConfig } from '../site-config.ts'

/** What a Markdown file of a package is rendered with. */
export interface MarkdownPlace extends Pick<SiteConfig, 'images'> {
  readonly place: ReadmePlace
  /** The pages of the package's files, by path in the package. */
  readonly pages: ReadonlyMap<string, string>
  readonly to: Linker
}

const MARKDOWN = /\.(md|markdown|mdown|mdwn|mkd|mkdn|mkdown)$/i

/**
 * Renders a Markdown file as sanitized HTML. Its links to files of the package lead to their pages,
 * other relative ones into the repository. Null for other and for very long files.
 */
export function renderedMarkdown(
  path: string,
  text: string,
  { images, place, pages, to }: MarkdownPlace,
): string | null {
  if (!MARKDOWN.test(path) || text.length > README_MAX) return null
  const folder = path.slice(0, path.lastIndexOf('/') + 1)
  const inside = (link: string): string | null => {
    const [, file = '', fragment] = /^([^?#]*)[^#]*(?:#(.*))?$/s.exec(link) ?? []
    const page = pages.get(posix.join(link.startsWith('/') ? '' : folder, decoded(file)))
    if (page === undefined) return null
    return `${to(page)}${fragment ? `#${ID_PREFIX}${fragment}` : ''}`
  }
  return renderReadme({ text, images, about: { ...place, readme_file: path } }, inside)
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
