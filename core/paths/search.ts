/** Path of the search page, and folder of the files that its script reads. */
export const SEARCH_FOLDER = 'search'
export const searchPath = `${SEARCH_FOLDER}/index.html`

/** Path of the file that the browser's search reads first. */
export const searchLayoutPath = `${SEARCH_FOLDER}/layout.json`

/** Folder of the terms that the browser searches. */
export const TERMS_FOLDER = `${SEARCH_FOLDER}/terms`

/** Returns the folder of the terms if they are in 2^`bits` buckets. */
export function searchBucketsFolder(bits: number): string {
  return `${TERMS_FOLDER}/${bits}`
}

/** Returns the path of the terms of one bucket. */
export function searchBucketPath(bits: number, bucket: number): string {
  return `${searchBucketsFolder(bits)}/${bucket}.json`
}

/** Returns the path of what the search shows of a block of crates. */
export function searchBlockPath(block: number): string {
  return `${SEARCH_FOLDER}/crates/${block}.json`
}

/** Returns the path of the crates in a range of ids that match common terms with this hash. */
export function searchCommonPath(hash: number, range: number): string {
  return `${SEARCH_FOLDER}/common/${hash}/${range}.json`
}
