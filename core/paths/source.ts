import { crateFolder } from './crates.ts'

/** Returns the folder of the source pages of a version. */
export function sourceFolder(name: string, version: string): string {
  return `${crateFolder(name)}/${version}/src`
}

/** Returns the path of the page with the file tree of a version. */
export function sourcePath(name: string, version: string): string {
  return `${sourceFolder(name, version)}/index.html`
}

/**
 * Returns the path of a file's page; null for a path that is not safe in every file system and URL.
 * A name gets a `_` if it could collide with a folder or the page of the tree, if it begins with a
 * dot, because file servers hide such files, or if it is the name of a Windows device.
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
