import { blockFile, bucketFile, commonFile, layoutFile, type SearchEntry, type Term } from '../../site/index.ts'
import type { Output } from '../paths.ts'
import { output } from './output.ts'

/** What the browser's search loads first. */
export function renderSearchLayout(bits: number, crates: number): Output {
  return output(layoutFile(bits, crates))
}

/** The terms of one bucket, for the browser's search. */
export function renderBucket(bits: number, bucket: number, terms: readonly Term[]): Output {
  return output(bucketFile(bits, bucket, terms))
}

/** All crates of a range that the common terms of a hash find, for the browser's search. */
export function renderCommon(hash: number, range: number, terms: readonly Term[]): Output {
  return output(commonFile(hash, range, terms))
}

/** The crates of one block, for the browser's search. */
export function renderBlock(block: number, crates: readonly (SearchEntry & { readonly id: number })[]): Output {
  return output(blockFile(block, crates))
}
