import type Libsql from 'libsql'
import { hashOfStart, shapeOf } from '../../../core/search/layout.ts'
import { changePostings } from '../../../core/search/postings.ts'
import { changeRanks, type RankInfo, rankOf } from '../../../core/search/ranks.ts'
import { isListed } from '../../../core/search/similar.ts'
import { type SearchableCrate, termsOf } from '../../../core/search/terms.ts'
import { RANKS_TERM } from '../../../generator/projections/search/files.ts'

/** Fills the tables from which search files are rendered, in bulk. */
export class TermFiller {
  readonly #crates: Libsql.Statement
  /** Crates and fits of each term, alternating. */
  readonly #terms = new Map<string, number[]>()
  readonly #ranks = new Map<number, number>()

  constructor(connection: Libsql.Database) {
    this.#crates = connection.prepare('INSERT INTO search_crates (crate_id, terms) VALUES (?, ?)')
  }

  add(id: number, crate: SearchableCrate & RankInfo): void {
    const terms = termsOf(crate)
    this.#crates.run(id, JSON.stringify([...terms]))
    for (const [term, fit] of terms) {
      const list = this.#terms.get(term)
      if (list) list.push(id, fit)
      else this.#terms.set(term, [id, fit])
    }
    this.#ranks.set(id, rankOf(crate))
  }

  finish(connection: Libsql.Database): void {
    const insert = connection.prepare(
      `INSERT INTO search_terms (shard, term, place, shape, words, postings)
        VALUES (0, ?, ?, ?, ?, ?)`,
    )
    for (const [term, list] of this.#terms) {
      const fits = new Map<number, number>()
      for (let at = 0; at < list.length; at += 2) fits.set(list[at] ?? 0, list[at + 1] ?? 0)
      const words = isListed(term) ? fits.size : 0
      insert.run(term, hashOfStart(term), shapeOf(term), words, changePostings('', fits))
    }
    insert.run(RANKS_TERM, -1, -1, 0, changeRanks('', this.#ranks))
  }
}
