/** The index URL of crates.io in index entries, even for users of its sparse index. */
export const CRATES_IO = 'https://github.com/rust-lang/crates.io-index'

/** Whether an index URL is crates.io's, in any form that Cargo and its tools write. */
export function isCratesIo(index: string): boolean {
  // Cargo writes the URL of the git index with and without `registry+` and `.git`.
  const plain = index.replace(/\/$/, '').replace(/^registry\+|\.git$/g, '')
  return plain === CRATES_IO || plain === 'sparse+https://index.crates.io'
}

/** Whether Cargo parses `text` with and without its prefix: it panics if the rest is no URL. */
export function isIndexUrl(text: string): boolean {
  return isUrl(text) && isUrl(text.replace(/^(?:sparse|registry)\+/i, ''))
}

function isUrl(text: string): boolean {
  return /^[a-z][a-z+.-]*:\/\/\S+$/i.test(text) && URL.canParse(text)
}

/** Removes a trailing slash of an index URL, which makes no difference. */
export function indexUrlKey(url: string): string {
  return url.endsWith('/') ? url.slice(0, -1) : url
}
