import type { CustomTypesConfig } from 'pg'

/** The parsers of the types that the records have, by PostgreSQL's numbers (`pg_type.oid`). */
const parsers = new Map<number, (value: string) => number>([
  [16, value => (value === 't' ? 1 : 0)], // boolean
  [20, Number], // bigint
  [23, Number], // integer
  [1700, Number], // numeric
])

/** Converts PostgreSQL values to those SQLite returns: numbers and texts. */
export const types: CustomTypesConfig = {
  getTypeParser: (oid: number) => parsers.get(oid) ?? String,
}

/** Returns a parameter as `pg` takes it; an array comes as JSON. */
export function parameter(value: unknown, isArray: boolean): unknown {
  if (isArray) return (JSON.parse(value as string) as unknown[]).map(item => parameter(item, false))
  // SQLite stores it so: no value equals it.
  return Number.isNaN(value) ? null : value
}
