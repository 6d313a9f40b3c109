import { searchBucketPath, searchColumnPath, searchLayoutPath } from '../paths/search.ts'
import { bucketOf, placeOf, SEARCH_FORMAT, type SearchLayout, shapeOf } from './files/layout.ts'
import { eachPosting, type Postings } from './files/postings.ts'
import { type Bucket, readBucket, readColumn } from './files/read.ts'
import { Hits, ShardHits, WordCrates } from './hits.ts'
import { type Plan, planSearch, rarestOf, type Vocabulary } from './plan.ts'
import { isEmptySearch, rustMinor, type SearchRequest } from './request.ts'
import { beginningFit, filterTerm, plainFit, SHORT } from './terms.ts'
import type { ListedWord } from './vocabulary.ts'
import { parseQuery } from './words.ts'

/** The source of search files. */
export interface SearchFiles {
  /** Returns the result of `read` for the text of a file; throws if there is no such file. */
  load<T>(path: string, read: (text: string) => T): Promise<T>
  /** Lets others have a turn of the event loop; called after each piece of some milliseconds. */
  pause(): Promise<unknown>
}

/** Thrown when there are no files of this format, or not yet. */
export class SearchUnready extends Error {}

/**
 * Searches the crates. Every word must occur in the name, the keywords, or the description, or
 * begin one of their words, or be an inflection of it. The exact name comes first, then the rest by
 * where the words occur, by dependents, and by the length of the name; crates with only yanked
 * versions come last. A word that no crate has is replaced by similar words; if no crate has all
 * words, crates with the most of them are found. Without words, the filters decide.
 */
export async function findCrates(files: SearchFiles, request: SearchRequest): Promise<Hits> {
  const { words, key } = parseQuery(request.q)
  const layout = await files.load(searchLayoutPath, text => JSON.parse(text) as SearchLayout)
  if (layout.format !== SEARCH_FORMAT) throw new SearchUnready(`format ${layout.format}`)
  const terms = new Terms(files, layout)
  const plan = await planSearch(words, terms)
  const isBlank = isEmptySearch(request) && request.sort === 'relevance'
  const isVain = isBlank || (plan.words.length === 0 && /[^\s+]/.test(request.q))
  const shards: ShardHits[] = []
  for (let shard = 0; shard < layout.shards && !isVain; shard++) {
    shards.push(await shardHits(files, terms, { request, plan, key }, shard))
    await files.pause()
  }
  return new Hits(shards, plan)
}

/** A search with a plan for its words. */
interface PlannedSearch {
  readonly request: SearchRequest
  readonly plan: Plan
  readonly key: string | null
}

async function shardHits(
  files: SearchFiles,
  terms: Terms,
  { request: { filters }, plan, key }: PlannedSearch,
  shard: number,
): Promise<ShardHits> {
  const hits = new ShardHits(shard, await files.load(searchColumnPath('ranks', shard), readColumn))
  for (const filter of ['keyword', 'category', 'license', 'owner'] as const) {
    const value = filters[filter]
    if (value !== undefined) hits.keep(await terms.postings(filterTerm(filter, value), shard))
  }
  const minor = rustMinor(filters.rust ?? null)
  if (minor !== null)
    hits.keepRust(minor, await files.load(searchColumnPath('rust', shard), readColumn))
  const rarest = rarestOf(plan.words)
  for (const [at, { variants }] of plan.words.entries()) {
    const found = variants.map(async ({ term, likeness }) => {
      return { found: await terms.found(term, shard), likeness }
    })
    hits.addWord(await Promise.all(found), at === rarest)
  }
  if (key !== null) hits.addExact(await terms.postings(key, shard))
  return hits
}

/** The terms in the files. */
class Terms implements Vocabulary {
  readonly #files: SearchFiles
  readonly #layout: SearchLayout
  readonly #found = new Map<string, Promise<WordCrates>>()

  constructor(files: SearchFiles, layout: SearchLayout) {
    this.#files = files
    this.#layout = layout
  }

  bucket(hash: number, shard: number): Promise<Bucket> {
    const { bits } = this.#layout
    return this.#files.load(searchBucketPath(bits, shard, bucketOf(hash, bits)), readBucket)
  }

  async postings(term: string, shard: number): Promise<Postings> {
    return (await this.bucket(placeOf(term), shard)).terms.get(term) ?? ''
  }

  /** Returns the crates of a shard that have a word, or a longer one in their names. */
  found(word: string, shard: number): Promise<WordCrates> {
    const key = `${shard} ${word}`
    const found = this.#found.get(key) ?? this.#find(word, shard)
    this.#found.set(key, found)
    return found
  }

  async #find(word: string, shard: number): Promise<WordCrates> {
    const { terms } = await this.bucket(placeOf(word), shard)
    await this.#files.pause()
    const found = new WordCrates()
    eachPosting(terms.get(word) ?? '', (place, fit) => found.put(place, plainFit(fit)))
    if (word.length <= SHORT) return found
    for (const [term, postings] of terms)
      if (term !== word && term.startsWith(word) && !term.includes('_'))
        eachPosting(postings, (place, fit) => found.put(place, beginningFit(fit)))
    return found
  }

  async count(term: string): Promise<number> {
    const shards = await this.#each(shard => this.found(term, shard))
    return shards.reduce((sum, { places }) => sum + places.length, 0)
  }

  async beginningAs(word: string): Promise<readonly ListedWord[]> {
    const start = word.slice(0, 3)
    const all = await this.#each(async shard => (await this.bucket(placeOf(word), shard)).words)
    return together(all.map(words => words.filter(listed => listed.word.startsWith(start))))
  }

  async shapedAs(word: string): Promise<readonly ListedWord[]> {
    const hash = shapeOf(word)
    const all = await this.#each(async shard => (await this.bucket(hash, shard)).shapes.get(hash))
    return together(all.map(words => words ?? []))
  }

  async #each<T>(work: (shard: number) => Promise<T>): Promise<T[]> {
    const { shards } = this.#layout
    const all = await Promise.all(Array.from({ length: shards }, (_, shard) => work(shard)))
    await this.#files.pause()
    return all
  }
}

/** Returns the words of all shards, each once, with its highest grade. */
function together(shards: readonly (readonly ListedWord[])[]): readonly ListedWord[] {
  if (shards.length === 1) return shards[0] ?? []
  const words = new Map<string, ListedWord>()
  for (const word of shards.flat())
    if (word.grade > (words.get(word.word)?.grade ?? 0)) words.set(word.word, word)
  return [...words.values()]
}
