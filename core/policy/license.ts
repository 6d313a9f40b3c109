import parse from 'spdx-expression-parse'

/** Longest expression; the parser recurses. */
const LONGEST = 1000

/**
 * Whether `text` is an SPDX license expression that crates.io accepts: `/` is an old form of `OR`;
 * deprecated identifiers and `GPL-2.0+` are valid, unknown identifiers are not.
 */
export function isLicenseExpression(text: string): boolean {
  // The parser would skip characters that it does not know.
  if (text.length > LONGEST || !/^[A-Za-z0-9.+:()/ -]+$/.test(text)) return false
  try {
    parse(text.replaceAll('/', ' OR '))
    return true
  } catch {
    // The parser throws when the text is invalid, sometimes a TypeError.
    return false
  }
}
