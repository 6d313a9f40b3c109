/** The source browser of a version; its file tree. */
export function sourcePath(name: string, version: string): string {
  return `crates/${name}/${version}/src/index.html`
}

/**
 * The page of one file; null for a path that is not safe in every file system and URL, which then is listed without a link.
 * No two files share a page, and none is where a folder or the tree's own page is: names that could be get a `_`. So do
 * names that begin with a dot, which servers of files keep to themselves, and those of Windows devices.
 */
export function sourceFilePath(name: string, version: string, file: string): string | null {
  const segments = file.split('/')
  if (file.length > 400 || !segments.every(isPlain)) return null
  const last = shown(segments.pop() ?? '')
  const folders = segments.map(folder => shown(/\.html_*$/i.test(folder) ? `${folder}_` : folder))
  const page = segments.length === 0 && /^index_*$/i.test(last) ? `${last}_.html` : `${last}.html`
  return ['crates', name, version, 'src', ...folders, page].join('/')
}

function shown(name: string): string {
  return /^_*(?:\.|(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$))/i.test(name) ? `_${name}` : name
}

/** Some hosts refuse a whole tree for one name with `#` or `%`. */
function isPlain(segment: string): boolean {
  if (segment === '' || segment === '.' || segment === '..' || /[. ]$/.test(segment)) return false
  return (
    new TextEncoder().encode(segment).length <= 200 && !/[\p{Cc}\p{Cs}\\<>:"|?*#%]/u.test(segment)
  )
}
