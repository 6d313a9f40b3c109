import { randomUUID } from 'node:crypto'

/** The most digits of an integer that stays exact: reading one takes time quadratic in its length. */
export const EXACT_DIGITS = 4300

/** An escape, a quote or a number; no repeated group, which would run out of stack on a long text. */
const TOKEN = /\\.|"|-?\d[-+.\deE]*/g
const INTEGER = /^-?\d+$/
/** 2^53 has sixteen digits. */
const LONG_DIGITS = /\d{16}/

/**
 * Reads JSON like `JSON.parse`, but an integer beyond 2^53 becomes a bigint, so that it can be shown digit for digit.
 * @throws SyntaxError as `JSON.parse` does
 */
export function parseExact(text: string): unknown {
  const plain: unknown = JSON.parse(text)
  if (!LONG_DIGITS.test(text)) return plain
  // `JSON.parse` shows a reviver no source text in Node 20, so each such integer goes through it as a string with a mark
  // that no body can contain by chance.
  const mark = `${randomUUID()}:`
  let quoted = false
  const marked = text.replace(TOKEN, token => {
    if (token === '"') quoted = !quoted
    return !quoted && isLongInteger(token) ? `"${mark}${token}"` : token
  })
  return JSON.parse(marked, (_, value: unknown) =>
    typeof value === 'string' && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value,
  )
}

function isLongInteger(token: string): boolean {
  return token.length <= EXACT_DIGITS + 1 && INTEGER.test(token) && !Number.isSafeInteger(Number(token))
}
