import parse from 'spdx-expression-parse'

/** No expression is longer; a bound, because the parser recurses. */
const LONGEST = 1000

/**
 * Whether `text` is an SPDX licence expression as crates.io takes it: `/` is an old way to write `OR`, deprecated
 * identifiers and `GPL-2.0+` count, unknown identifiers do not.
 */
export function isLicenseExpression(text: string): boolean {
  // The scanner skips characters it does not know, so they are kept from it.
  if (text.length > LONGEST || !/^[A-Za-z0-9.+:()/ -]+$/.test(text)) return false
  try {
    parse(text.replaceAll('/', ' OR '))
    return true
  } catch {
    // The parser says "no" by throwing, a TypeError for some unfinished expressions.
    return false
  }
}
