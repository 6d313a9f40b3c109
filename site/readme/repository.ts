/** Where relative links of a README lead: URLs of the folder it lies in, each ending with a slash. */
export interface LinkBase {
  /** Root of the repository's files as pages and as bytes: no link leaves it. */
  readonly pages: string
  readonly bytes: string
  /** Folder of the README below the root: empty, or ending with a slash. */
  readonly folder: string
}

/** How forges name the page and the bytes of a file on the default branch. */
const FORGES: readonly [host: RegExp, pages: string, bytes: string][] = [
  [
    /^(www\.)?(github|gitlab)\.com$|^bitbucket\.org$|^(github|gitlab|bitbucket)\.(?!(com|org)\.)/,
    'blob/HEAD/',
    'raw/HEAD/',
  ],
  [/^git\.sr\.ht$/, 'tree/HEAD/item/', 'blob/HEAD/'],
  [/^codeberg\.org$|^(gitea|forgejo)\./, 'src/HEAD/', 'raw/HEAD/'],
]

/** The link base of a README in a repository; null when the forge is not one whose file URLs are known. */
export function linkBase(
  repository: string | null,
  pathInVcs: string | null,
  readmePath: string,
): LinkBase | null {
  if (repository === null || repository.length > 500 || !URL.canParse(repository)) return null
  const url = new URL(repository)
  const forge = FORGES.find(([host]) => host.test(url.hostname))
  if (forge === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:')) return null
  const root = repositoryRoot(url)
  if (root === null) return null
  const folder = [...(pathInVcs ?? '').split('/'), ...readmePath.split('/').slice(0, -1)]
    .filter(segment => segment !== '' && segment !== '.')
    .map(segment => `${encodeURIComponent(segment)}/`)
    .join('')
  return { pages: root + forge[1], bytes: root + forge[2], folder }
}

/** The repository a URL is in: people also give the page of a folder (`…/tree/main/crates/x`). */
function repositoryRoot(url: URL): string | null {
  const segments = url.pathname.split('/').filter(segment => segment !== '')
  const stop = segments.findIndex(
    (one, at) => at >= 2 && ['tree', 'blob', 'src', '-'].includes(one),
  )
  const path = (stop === -1 ? segments : segments.slice(0, stop)).join('/').replace(/\.git$/, '')
  return path.includes('/') ? `${url.origin}/${path}/` : null
}

/** A relative link of a README made absolute; null when it leads out of the repository. */
export function resolveLink(base: LinkBase, link: string, kind: 'pages' | 'bytes'): string | null {
  const root = base[kind]
  const from = link.startsWith('/') ? root : root + base.folder
  const relative = link.replace(/^\/+/, '')
  if (!URL.canParse(relative, from)) return null
  const url = new URL(relative, from)
  if (!url.href.startsWith(root)) return null
  // Forges show an SVG only when asked to clean it.
  if (kind === 'bytes' && url.pathname.toLowerCase().endsWith('.svg'))
    url.searchParams.set('sanitize', 'true')
  return url.href
}
