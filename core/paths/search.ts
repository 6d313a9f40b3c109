export const SEARCH_FOLDER = 'search'
export const searchPath = `${SEARCH_FOLDER}/index.html`

/** Path of the file that searches read first; there is none before the others are complete. */
export const searchLayoutPath = `${SEARCH_FOLDER}/layout.json`

/** Path of the file with the rank of each crate. */
export const searchRanksPath = `${SEARCH_FOLDER}/ranks.json`

export const TERMS_FOLDER = `${SEARCH_FOLDER}/terms`

/** Returns the path of one of 2^`bits` buckets of terms. */
export function searchBucketPath(bits: number, bucket: number): string {
  return `${TERMS_FOLDER}/${bits}/${bucket}.json`
}

/** Returns the path of a block of crates, as shown in results. */
export function searchBlockPath(block: number): string {
  return `${SEARCH_FOLDER}/crates/${block}.json`
}
