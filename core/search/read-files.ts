import { numbersIn } from './columns.ts'
import { crateCount, type Postings } from './postings.ts'
import { gradeOf, isListed, type ListedWord } from './vocabulary.ts'

/** The terms of a bucket, and the words of the shapes that have their hashes in it. */
export interface Bucket {
  readonly terms: ReadonlyMap<string, Postings>
  /** The whole words among the terms. */
  readonly words: readonly ListedWord[]
  readonly shapes: ReadonlyMap<number, readonly ListedWord[]>
}

export interface FoundCrate {
  readonly id: number
  readonly name: string
  readonly version: string
  readonly description: string
  readonly yanked: boolean
  readonly updatedAt: string | null
}

/** Reads a bucket. */
export function readBucket(text: string): Bucket {
  const terms = new Map<string, Postings>()
  const shapes = new Map<number, ListedWord[]>()
  const words: ListedWord[] = []
  for (const [key, ...rest] of JSON.parse(text)) {
    if (typeof key === 'number') shapes.set(key, unpackWords(rest))
    else {
      terms.set(key, rest[0])
      if (isListed(key)) words.push({ word: key, grade: gradeOf(crateCount(rest[0])) })
    }
  }
  return { terms, words, shapes }
}

function unpackWords(packed: readonly (number | string)[]): ListedWord[] {
  let grade = 0
  return packed.flatMap(item => {
    if (typeof item === 'string') return [{ word: item, grade }]
    grade = item
    return []
  })
}

/** Reads a column. */
export function readColumn(text: string): Uint8Array {
  return numbersIn(JSON.parse(text))
}

/** Reads a block. */
export function readBlock(text: string): FoundCrate[] {
  const crates = JSON.parse(text) as [number, string, string, string, 0 | 1, string | null][]
  return crates.map(([id, name, version, description, yanked, updatedAt]) => {
    return { id, name, version, description, yanked: yanked === 1, updatedAt }
  })
}
