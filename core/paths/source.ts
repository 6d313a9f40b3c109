import { crateFolder } from './crates.ts'

/** Folder of the source pages of a version. */
export function sourceFolder(name: string, version: string): string {
  return `${crateFolder(name)}/${version}/src`
}

/** The page with the file tree of a version. */
export function sourcePath(name: string, version: string): string {
  return `${sourceFolder(name, version)}/index.html`
}

/**
 * The page of one file; null for a path that is not safe in every file system and URL. Pages have
 * different paths, also from the folders and the page of the tree: a name that could collide gets a
 * `_`. So do names that begin with a dot, which file servers hide, and names of Windows devices.
 */
export function sourceFilePath(name: string, version: string, file: string): string | null {
  const segments = file.split('/')
  if (file.length > 400 || !segments.every(isPlain)) return null
  const last = shown(segments.pop() ?? '')
  const folders = segments.map(folder => shown(/\.html_*$/i.test(folder) ? `${folder}_` : folder))
  const page = segments.length === 0 && /^index_*$/i.test(last) ? `${last}_.html` : `${last}.html`
  return [sourceFolder(name, version), ...folders, page].join('/')
}

function shown(name: string): string {
  return /^_*(?:\.|(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$))/i.test(name) ? `_${name}` : name
}

/** Some hosts refuse a whole site because of one name with `#` or `%`. */
function isPlain(segment: string): boolean {
  if (segment === '' || segment === '.' || segment === '..' || /[. ]$/.test(segment)) return false
  return (
    new TextEncoder().encode(segment).length <= 200 && !/[\p{Cc}\p{Cs}\\<>:"|?*#%]/u.test(segment)
  )
}
