// What the catalog shares with the site: a door of its own, because a command that lists crates needs no views.
export { MAP_CRATES } from '../../site/address.ts'
export {
  BLOCK_CRATES,
  blockOf,
  bucketOf,
  HASH_BITS,
  hashOf,
  RANGE_CRATES,
  rangeOf,
} from '../../site/search/buckets.ts'
export { bitsFor, POSTINGS_MAX, type Posting, type Term } from '../../site/search/shards.ts'
export { CLASSES, classOf, type Searched, termsOf, YANKED_FROM } from '../../site/search/terms.ts'
export { parseQuery, type Query, RANK_YANKED, wordsOf } from '../../site/search/words.ts'
