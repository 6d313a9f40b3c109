/**
 * Returns the new address of a page that an older version of this program wrote (a file, lines of
 * it, its bytes, or a comparison), else null. Both paths are percent-encoded and relative to the
 * folder of the crates.
 */
export function movedPath(path: string): string | null {
  const [name = '', version = '', folder = '', ...below] = path.split('/')
  if (version === 'compare')
    return folder.includes('...') && below.length === 0 ? `${name}/compare/#${folder}` : null
  const names = folder === 'parts' && /^\d+$/.test(below[0] ?? '') ? below.slice(1) : below
  const end = folder === 'raw' ? /\.txt$/ : /\.html$/
  const isFile = folder === 'raw' || (/^(?:src|parts)$/.test(folder) && end.test(path))
  const file = names.join('/').replace(end, '')
  // Names that began with a dot had a `_` before it, because file servers hide such files.
  const shown = file.replace(/(^|\/)_(?=_*\.)/g, '$1')
  return isFile && file !== '' ? `${name}/${version}/src/#${shown}` : null
}
