import type Libsql from 'libsql'
import { COLUMNS, changeColumn, columnsOf, type RankInfo } from '../../core/search/columns.ts'
import { placeOf, shapeOf } from '../../core/search/layout.ts'
import { changePostings } from '../../core/search/postings.ts'
import { type SearchableCrate, termsOf } from '../../core/search/terms.ts'
import { isListed } from '../../core/search/vocabulary.ts'
import { columnTerm } from '../../generator/projections/search/change.ts'

/** Fills the tables from which search files are rendered, in bulk. */
export class TermFiller {
  readonly #crates: Libsql.Statement
  /** Crates and fits of each term, alternating. */
  readonly #terms = new Map<string, number[]>()
  readonly #columns = { ranks: new Map<number, number>(), rust: new Map<number, number>() }

  constructor(connection: Libsql.Database) {
    this.#crates = connection.prepare('INSERT INTO search_crates (crate_id, terms) VALUES (?, ?)')
  }

  add(id: number, crate: SearchableCrate & RankInfo, rust: string | null = null): void {
    const terms = termsOf(crate)
    this.#crates.run(id, JSON.stringify([...terms]))
    for (const [term, fit] of terms) {
      const list = this.#terms.get(term)
      if (list) list.push(id, fit)
      else this.#terms.set(term, [id, fit])
    }
    const numbers = columnsOf({ ...crate, rust })
    for (const column of COLUMNS) this.#columns[column].set(id, numbers[column])
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
      insert.run(term, placeOf(term), shapeOf(term), words, changePostings('', fits))
    }
    for (const column of COLUMNS)
      insert.run(columnTerm(column), -1, -1, 0, changeColumn('', this.#columns[column]))
  }
}
