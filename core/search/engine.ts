import { searchBucketPath, searchColumnPath, searchLayoutPath } from '../paths/search.ts'
import { Candidates, Found, Hits } from './hits.ts'
import { bucketOf, placeOf, SEARCH_FORMAT, type SearchLayout, shapeOf } from './layout.ts'
import { planSearch, rarestOf, type Vocabulary } from './plan.ts'
import { eachPosting, type Postings } from './postings.ts'
import { type Bucket, readBucket, readColumn } from './read-files.ts'
import { isEmptySearch, rustMinor, type SearchRequest } from './request.ts'
import { beginningFit, filterTerms, plainFit, SHORT } from './terms.ts'
import type { ListedWord } from './vocabulary.ts'
import { parseQuery } from './words.ts'

export interface SearchFiles {
  /** Returns the result of `read` for the text of a file; throws if there is no such file. */
  load<T>(path: string, read: (text: string) => T): Promise<T>
  /** Lets others have a tick of the event loop; called after each piece of some milliseconds. */
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
  const { filters, q, sort } = request
  const { words, key } = parseQuery(q)
  const layout = await files.load(searchLayoutPath, text => JSON.parse(text) as SearchLayout)
  if (layout.format !== SEARCH_FORMAT) throw new SearchUnready(`format ${layout.format}`)
  const isBlank = isEmptySearch(request) && sort === 'relevance'
  const ranks = isBlank ? NONE : await files.load(searchColumnPath('ranks'), readColumn)
  const terms = new Terms(files, layout, ranks.length)
  const plan = await planSearch(words, terms)
  const isVain = plan.words.length === 0 && /[^\s+]/.test(q)
  if (isBlank || isVain) return new Hits(new Candidates(NONE), plan)
  const candidates = new Candidates(ranks)
  for (const filter of ['keyword', 'category', 'license', 'owner'] as const) {
    for (const term of filterTerms(filter, filters[filter] ?? '')) {
      candidates.keep(await terms.postings(term))
      await files.pause()
    }
  }
  const minor = rustMinor(filters.rust ?? null)
  if (minor !== null)
    candidates.keepRust(minor, await files.load(searchColumnPath('rust'), readColumn))
  const rarest = rarestOf(plan.words)
  for (const [at, { variants }] of plan.words.entries()) {
    const found = variants.map(async ({ term, likeness }) => {
      return { found: await terms.found(term), likeness }
    })
    candidates.addWord(await Promise.all(found), at === rarest)
    await files.pause()
  }
  if (key !== null) candidates.addExact(await terms.postings(key))
  const hits = new Hits(candidates, plan)
  await files.pause()
  return hits
}

const NONE = new Uint8Array()

class Terms implements Vocabulary {
  readonly #files: SearchFiles
  readonly #bits: number
  /** Above the ids of all crates. */
  readonly #size: number
  readonly #found = new Map<string, Promise<Found>>()

  constructor(files: SearchFiles, { bits }: SearchLayout, size: number) {
    this.#files = files
    this.#bits = bits
    this.#size = size
  }

  #bucket(hash: number): Promise<Bucket> {
    return this.#files.load(searchBucketPath(this.#bits, bucketOf(hash, this.#bits)), readBucket)
  }

  async postings(term: string): Promise<Postings> {
    return (await this.#bucket(placeOf(term))).terms.get(term) ?? ''
  }

  /** Returns the crates that have a word, or a longer one in their names. */
  found(word: string): Promise<Found> {
    const found = this.#found.get(word) ?? this.#find(word)
    this.#found.set(word, found)
    return found
  }

  async #find(word: string): Promise<Found> {
    const { terms } = await this.#bucket(placeOf(word))
    await this.#files.pause()
    const found = new Found(this.#size)
    eachPosting(terms.get(word) ?? '', (id, fit) => found.put(id, plainFit(fit)))
    if (word.length <= SHORT) return found
    for (const [term, postings] of terms)
      if (term !== word && term.startsWith(word) && !term.includes('_'))
        eachPosting(postings, (id, fit) => found.put(id, beginningFit(fit)))
    return found
  }

  async count(term: string): Promise<number> {
    return (await this.found(term)).ids.length
  }

  async beginningAs(word: string): Promise<readonly ListedWord[]> {
    const { words } = await this.#bucket(placeOf(word))
    return words.filter(listed => listed.word.startsWith(word.slice(0, 3)))
  }

  async shapedAs(word: string): Promise<readonly ListedWord[]> {
    const hash = shapeOf(word)
    return (await this.#bucket(hash)).shapes.get(hash) ?? []
  }
}
