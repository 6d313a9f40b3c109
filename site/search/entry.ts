/** What the search knows of a crate. */
export interface SearchEntry {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly keywords: readonly string[]
  /** Whether every version is yanked. */
  readonly yanked: boolean
}

/** A `SearchEntry` in a shard. */
export type PackedEntry = readonly [name: string, version: string, description: string, keywords: string, yanked: 0 | 1]

/** More of a description than this is neither searched nor shown. */
const DESCRIPTION_MAX = 160

/** What is stored of an entry; the search goes by this, so that it finds the same with and without shards. */
export function pack(entry: SearchEntry): PackedEntry {
  const description = [...entry.description.replace(/\s+/g, ' ').trim()].slice(0, DESCRIPTION_MAX).join('')
  return [entry.name, entry.version, description, entry.keywords.join(' '), entry.yanked ? 1 : 0]
}

/** The entry in a packed one. */
export function unpack([name, version, description, keywords, yanked]: PackedEntry): SearchEntry {
  return { name, version, description, keywords: keywords === '' ? [] : keywords.split(' '), yanked: yanked === 1 }
}
