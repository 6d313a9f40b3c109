import { setTimeout as sleep } from 'node:timers/promises'
import { execute } from '../../support/postgres.ts'
import { Violation } from '../run.ts'

/** Marks that publishes wait for: index files and `.crate` files. */
const URGENT = "kind IN ('index', 'whole', 'file')"
const EVERYTHING = "kind NOT IN ('label', 'user', 'views')"
/** Holders and waiters of locks, for people. */
const HOLDERS = `SELECT pid, objid, granted, state, clock_timestamp() - state_change AS since, query
  FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE locktype = 'advisory'`
/** The pause between two looks, in milliseconds. */
const LOOK_MS = 100

/** The pending work in the database, seen past all gates. */
export class Work {
  readonly #url: string
  longestTakeover = 0
  longestRest = 0
  /** Milliseconds until everything was done at the end. */
  pages = 0

  constructor(url: string) {
    this.#url = url
  }

  /** Records how long the currently pending work takes, on any daemon. */
  async takeover(): Promise<number> {
    const began = performance.now()
    await this.#until(URGENT, await this.#last(), () => undefined)
    const taken = performance.now() - began
    this.longestTakeover = Math.max(this.longestTakeover, taken)
    return taken
  }

  /**
   * Waits until the currently pending work is done, with all pages or only what publishes wait for;
   * fails when that takes too long.
   */
  async rest(what: 'urgent' | 'everything', most: number): Promise<void> {
    const began = performance.now()
    const kinds = what === 'urgent' ? URGENT : EVERYTHING
    const since = new Map<string, number>()
    await this.#until(kinds, await this.#last(), async left => {
      const waited = performance.now() - began
      // Work marked again because a lock was lost gets the full time from then on.
      const seen = left.map(row => `${row.kind} ${row.subject} ${row.generation}`)
      for (const key of since.keys()) if (!seen.includes(key)) since.delete(key)
      for (const key of seen) since.set(key, since.get(key) ?? waited)
      if (waited - Math.min(...since.values()) < most) return
      const ages = { since: Object.fromEntries(since) }
      const state = [...left, ages, ...(await execute(this.#url, HOLDERS))]
      const rows = state.map(row => `  ${JSON.stringify(row)}`).join('\n')
      throw new Violation(`after ${waited.toFixed(0)} ms there is work left:\n${rows}`)
    })
    const taken = performance.now() - began
    if (what === 'urgent') this.longestRest = Math.max(this.longestRest, taken)
    else this.pages = taken
  }

  async #last(): Promise<number> {
    const [row] = await execute(this.#url, 'SELECT coalesce(max(id), 0) AS last FROM audit')
    return Number(row?.last)
  }

  async #until(
    kinds: string,
    last: number,
    onLeft: (left: Record<string, unknown>[]) => Promise<void> | void,
  ): Promise<void> {
    const sql = `SELECT * FROM marks WHERE ${kinds} AND generation <= ${last} ORDER BY generation, kind, subject`
    for (;;) {
      // The server may be away.
      const left = await execute(this.#url, sql).catch(() => null)
      if (left?.length === 0) return
      if (left) await onLeft(left)
      await sleep(LOOK_MS)
    }
  }
}
