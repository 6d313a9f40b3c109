import * as v from 'valibot'
import { FILTERS } from '../../core/search/request.ts'
import { pageMeta, pageQuery } from '../http/paging.ts'
import { count, crateShape } from './schema.ts'

/**
 * The query of `cargo search` (specification section 4); a `+` separates words. The others narrow
 * the results down, or sort them by `relevance`, `name`, `newest` or `dependents`.
 */
export const searchQuery = v.object({
  q: v.optional(v.string(), ''),
  ...v.entriesFromList([...FILTERS, 'sort'], v.optional(v.string())),
  ...pageQuery,
})

/** A crate as found: `description` is always a string (specification A.6). */
const foundShape = v.object({ ...crateShape.entries, description: v.string() })

const similarShape = v.object({ word: v.string(), others: v.array(v.string()) })

/**
 * `similar`: words that no crate has, with those searched instead; `suggested`: words that few
 * crates have, with one that may be meant; `missing`: words that were left out. Each crate has
 * `matched_words` of `words`.
 */
export const searchAnswer = v.object({
  crates: v.array(foundShape),
  meta: v.object({
    ...pageMeta.entries,
    words: count,
    matched_words: count,
    similar: v.array(similarShape),
    suggested: v.array(similarShape),
    missing: v.array(v.string()),
  }),
})
