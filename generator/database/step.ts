import { type Queries, run } from './statement.ts'

/**
 * A step of the schema. It *expands* if programs that do not know it work on as before: new tables,
 * indexes, triggers on new tables, and columns that may be absent from an `INSERT`. It *contracts*
 * if it takes away or changes what a program uses; then `oldest` is the step that a program has to
 * know to work afterwards.
 *
 * Daemons of two versions serve one database while they are upgraded one by one. So a change
 * of a column or its meaning adds a new one first and writes both; a later version contracts.
 */
export interface Step {
  up(db: Queries): Promise<void>
  /** Absent from a step that expands. */
  readonly oldest?: string
}

/** Returns a step that expands the schema. */
export function statements(list: readonly string[]): Step {
  return {
    async up(db) {
      for (const statement of list) await run(db, statement)
    },
  }
}

/** Returns a step that contracts the schema: afterwards a program has to know the step `oldest`. */
export function contracts(oldest: string, list: readonly string[]): Step {
  return { ...statements(list), oldest }
}
