import type Libsql from 'libsql'
import { hashOf } from '../../core/search/hash.ts'
import { rustMinor } from '../../core/search/request.ts'
import { scoreOf } from '../../core/search/score.ts'
import { findableBy, type Searched } from '../../core/search/terms.ts'
import { gradeOf, keyOf } from '../../core/search/vocabulary.ts'
import { BLOCK_CRATES } from '../../generator/store/catalog/search/bitmaps.ts'
import { stateOf } from '../../generator/store/catalog/search/crate-bytes.ts'

/** Fills the tables that searches read, in bulk; terms have no bitmaps yet. */
export class TermFiller {
  /** By term: rank and crate by turns. */
  readonly #postings = new Map<string, number[]>()
  readonly #words = new Map<string, number>()
  readonly #blocks: { scores: Buffer; states: Buffer }[] = []

  add(id: number, crate: Searched, rust: string | null = null): void {
    const { ranks, words } = findableBy(crate)
    for (const [term, rank] of ranks) {
      const list = this.#postings.get(term)
      if (list) list.push(rank, id)
      else this.#postings.set(term, [rank, id])
    }
    for (const word of words) this.#words.set(word, (this.#words.get(word) ?? 0) + 1)
    const number = Math.floor(id / BLOCK_CRATES)
    this.#blocks[number] ??= {
      scores: Buffer.alloc(BLOCK_CRATES),
      states: Buffer.alloc(BLOCK_CRATES),
    }
    const block = this.#blocks[number]
    block.scores[id % BLOCK_CRATES] = scoreOf(crate.step ?? 0, crate.canonical.length)
    block.states[id % BLOCK_CRATES] = stateOf(crate.yanked, rustMinor(rust))
  }

  finish(connection: Libsql.Database): void {
    const term = connection.prepare(
      `INSERT INTO terms (id, term, crates, hash, words, grade, start, shape)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    const posting = connection.prepare(
      'INSERT INTO postings (term_id, rank, crate_id) VALUES (?, ?, ?)',
    )
    let id = 0
    for (const [text, list] of this.#postings) {
      const words = this.#words.get(text) ?? 0
      const keys = [keyOf('start', text), keyOf('shape', text)]
      term.run(++id, text, list.length / 2, hashOf(text), words, gradeOf(words), ...keys)
      for (let at = 0; at < list.length; at += 2) posting.run(id, list[at], list[at + 1])
    }
    const bytes = connection.prepare(
      'INSERT INTO crate_bytes (block, scores, states) VALUES (?, ?, ?)',
    )
    for (const [block, one] of this.#blocks.entries())
      if (one) bytes.run(block, one.scores, one.states)
  }
}
