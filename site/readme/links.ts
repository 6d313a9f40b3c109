import { decoded } from '../../core/urls/decoded.ts'

/** Location of a README in its package, and of the package in its repository. */
export interface ReadmePlace {
  readonly repository: string | null
  readonly vcs_path?: string
  readonly readme_file: string | null
}

/** The bases of a README's relative links: URLs that end with a slash. */
export interface LinkBase {
  /** URLs of the repository's root, for pages and for raw files; no link may leave it. */
  readonly pages: string
  readonly bytes: string
  /** Folder of the README below the root: empty, or ending with a slash. */
  readonly folder: string
  /** Returns the page of this site for a relative link; null if there is none. */
  readonly inside?: (link: string) => string | null
}

/** URL paths on each forge for the page and the bytes of a file on the default branch. */
const FORGES: readonly [host: RegExp, pages: string, bytes: string][] = [
  [
    /^(www\.)?(github|gitlab)\.com$|^bitbucket\.org$|^(github|gitlab|bitbucket)\.(?!(com|org)\.)/,
    'blob/HEAD/',
    'raw/HEAD/',
  ],
  [/^git\.sr\.ht$/, 'tree/HEAD/item/', 'blob/HEAD/'],
  [/^codeberg\.org$|^(gitea|forgejo)\./, 'src/HEAD/', 'raw/HEAD/'],
]

/** Returns the link base of a README; null if the forge's URLs are not known. */
export function linkBase({ repository, vcs_path, readme_file }: ReadmePlace): LinkBase | null {
  if (repository === null || repository.length > 500 || !URL.canParse(repository)) return null
  const url = new URL(repository)
  const forge = FORGES.find(([host]) => host.test(url.hostname))
  if (forge === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:')) return null
  const root = repositoryRoot(url)
  if (root === null) return null
  const readmeFolder = (readme_file ?? '').split('/').slice(0, -1)
  const folder = [...(vcs_path ?? '').split('/'), ...readmeFolder]
    .filter(segment => segment !== '' && segment !== '.')
    .map(segment => `${encodeURIComponent(segment)}/`)
    .join('')
  return { pages: root + forge[1], bytes: root + forge[2], folder }
}

/** Returns the repository of a URL, which may be the page of a folder (`…/tree/main/crates/x`). */
function repositoryRoot(url: URL): string | null {
  const segments = url.pathname.split('/').filter(segment => segment !== '')
  const stop = segments.findIndex(
    (part, at) => at >= 2 && ['tree', 'blob', 'src', '-'].includes(part),
  )
  const path = (stop === -1 ? segments : segments.slice(0, stop)).join('/').replace(/\.git$/, '')
  return path.includes('/') ? `${url.origin}/${path}/` : null
}

/** Makes a relative link of a README absolute; null if it leads out of the repository. */
export function resolveLink(base: LinkBase, link: string, kind: 'pages' | 'bytes'): string | null {
  const own = kind === 'pages' ? base.inside?.(link) : undefined
  const [, lines] = /#(L\d+(?:-L\d+)?)$/.exec(link) ?? []
  if (own) return lines ? `${own}:${lines}` : own
  const root = base[kind]
  const from = link.startsWith('/') ? root : root + base.folder
  const relative = link.replace(/^\/+/, '')
  if (!URL.canParse(relative, from)) return null
  const url = new URL(relative, from)
  if (!url.href.startsWith(root)) return null
  // Forges serve an SVG as an image only if the URL asks them to sanitize it.
  if (kind === 'bytes' && url.pathname.toLowerCase().endsWith('.svg'))
    url.searchParams.set('sanitize', 'true')
  return url.href
}

/** Prefix of a README's ids, so that they cannot collide with ids of the page. */
export const ID_PREFIX = 'user-content-'

/** Maximum length of a URL, in characters; longer ones are dropped. */
const URL_MAX = 2000

/**
 * Returns a safe link: an absolute http, https or mailto URL, a fragment of the README itself, or a
 * relative link resolved in the repository. Null for everything else.
 */
export function safeLink(
  href: string | undefined,
  base: LinkBase | null,
  kind: 'pages' | 'bytes',
): string | null {
  const text = printable(href ?? '').trim()
  if (text === '' || text.length > URL_MAX) return null
  if (text.startsWith('#')) {
    const id = safeId(decoded(text.slice(1)))
    return id === null ? null : `#${encodeURIComponent(id)}`
  }
  const absolute = text.startsWith('//') ? `https:${text}` : text
  if (/^[a-z][a-z0-9+.-]*:/i.test(absolute)) {
    if (!URL.canParse(absolute)) return null
    const url = new URL(absolute)
    // `crate::Type` is a link for rustdoc; as a URL, it has an unknown scheme.
    return ['http:', 'https:', 'mailto:'].includes(url.protocol) ? url.href : null
  }
  return base === null || absolute.includes('::') ? null : resolveLink(base, absolute, kind)
}

/** Returns a safe image URL: like a link, but only http or https. */
export function safeImage(src: string | undefined, base: LinkBase | null): string | null {
  const url = safeLink(src, base, 'bytes')
  return url?.startsWith('http') ? url : null
}

/** Returns an id with the prefix for READMEs; null if no valid character is left. */
export function safeId(id: string): string | null {
  const clean = id.replace(/[^\p{L}\p{N}_.:-]/gu, '').slice(0, 100)
  if (clean === '') return null
  return clean.startsWith(ID_PREFIX) ? clean : ID_PREFIX + clean
}

/** Removes control characters, which browsers skip in a URL's scheme (`java\nscript:`). */
function printable(text: string): string {
  return [...text].filter(character => character >= ' ' && character !== '\u007f').join('')
}
