import type { CustomTypesConfig } from 'pg'

/** PostgreSQL's numbers of the types that the catalog reads (`pg_type.oid`). */
const [BOOL, BYTEA, BIGINT, INTEGER, TEXT, JSON_TEXT, VARCHAR, NUMERIC] = [
  16, 17, 20, 23, 25, 114, 1043, 1700,
]

/** PostgreSQL's texts cannot contain U+0000; this noncharacter announces an escaped one. */
const ESCAPE = '\u{10ffff}'

/** Returns a text without U+0000, from which `unescaped` makes the same text again. */
export function escaped(text: string): string {
  if (!text.includes('\0') && !text.includes(ESCAPE)) return text
  return text.replaceAll(ESCAPE, `${ESCAPE}1`).replaceAll('\0', `${ESCAPE}0`)
}

function unescaped(text: string): string {
  if (!text.includes(ESCAPE)) return text
  return text.replaceAll(`${ESCAPE}0`, '\0').replaceAll(`${ESCAPE}1`, ESCAPE)
}

function bytes(hex: string): ArrayBuffer {
  const buffer = Buffer.from(hex.slice(2), 'hex')
  return buffer.buffer.slice(buffer.byteOffset, buffer.byteOffset + buffer.byteLength)
}

const parsers = new Map<number, (value: string) => unknown>([
  [BOOL as number, value => (value === 't' ? 1 : 0)],
  [BYTEA as number, bytes],
  [BIGINT as number, Number],
  [INTEGER as number, Number],
  [NUMERIC as number, Number],
  [TEXT as number, unescaped],
  [VARCHAR as number, unescaped],
  [JSON_TEXT as number, unescaped],
])

/** Converts PostgreSQL values to those SQLite returns: numbers, texts, JSON texts, bytes. */
export const types: CustomTypesConfig = {
  getTypeParser: (oid: number) => parsers.get(oid) ?? String,
}

/** Returns a parameter as `pg` takes it; an array comes as JSON. */
export function parameter(value: unknown, isArray: boolean): unknown {
  if (isArray) return (JSON.parse(value as string) as unknown[]).map(item => parameter(item, false))
  if (typeof value === 'string') return escaped(value)
  // As SQLite stores it: nothing is equal to it.
  if (Number.isNaN(value)) return null
  return value instanceof Uint8Array && !Buffer.isBuffer(value) ? Buffer.from(value) : value
}
