import type Libsql from 'libsql'
import { COLUMNS, changeColumn, columnsOf, type RankInfo } from '../../core/search/files/columns.ts'
import { placeOf, SHARD_CRATES, shapeOf, shardOf } from '../../core/search/files/layout.ts'
import { changePostings } from '../../core/search/files/postings.ts'
import { type SearchableCrate, termsOf } from '../../core/search/terms.ts'
import { isListed } from '../../core/search/vocabulary.ts'
import { columnTerm } from '../../generator/projections/search/change.ts'

/** The data collected for a shard: crates and fits of each term, alternating, and the columns. */
interface Shard {
  readonly terms: Map<string, number[]>
  readonly columns: Readonly<Record<(typeof COLUMNS)[number], Map<number, number>>>
}

/** Fills the tables from which search files are rendered, in bulk. */
export class TermFiller {
  readonly #crates: Libsql.Statement
  readonly #shards: Shard[] = []

  constructor(connection: Libsql.Database) {
    this.#crates = connection.prepare('INSERT INTO search_crates (crate_id, terms) VALUES (?, ?)')
  }

  add(id: number, crate: SearchableCrate & RankInfo, rust: string | null = null): void {
    const place = id % SHARD_CRATES
    const shard = this.#shards[shardOf(id)] ?? {
      terms: new Map(),
      columns: { ranks: new Map(), rust: new Map() },
    }
    this.#shards[shardOf(id)] = shard
    const terms = termsOf(crate)
    this.#crates.run(id, JSON.stringify([...terms]))
    for (const [term, fit] of terms) {
      const list = shard.terms.get(term)
      if (list) list.push(place, fit)
      else shard.terms.set(term, [place, fit])
    }
    const numbers = columnsOf({ ...crate, rust })
    for (const column of COLUMNS) shard.columns[column].set(place, numbers[column])
  }

  finish(connection: Libsql.Database): void {
    const insert = connection.prepare(
      `INSERT INTO search_terms (shard, term, place, shape, words, postings)
        VALUES (?, ?, ?, ?, ?, ?)`,
    )
    for (const [shard, { terms, columns }] of this.#shards.entries()) {
      for (const [term, list] of terms) {
        const fits = new Map<number, number>()
        for (let at = 0; at < list.length; at += 2) fits.set(list[at] ?? 0, list[at + 1] ?? 0)
        const words = isListed(term) ? fits.size : 0
        insert.run(shard, term, placeOf(term), shapeOf(term), words, changePostings('', fits))
      }
      for (const column of COLUMNS)
        insert.run(shard, columnTerm(column), -1, -1, 0, changeColumn('', columns[column]))
    }
  }
}
