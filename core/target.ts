/** Maximum length of a target, in characters; real crates' have a few hundred. */
const TARGET_MAX = 16 * 1024
/** Maximum nesting of `all`, `any` and `not`: Cargo's parser has no limit and ends on its stack. */
const NESTING_MAX = 64

const TOKEN = /(?:r#)?[A-Za-z_]\w*|[(),=]|"[^"]*"| +/g

export const TARGET_FORM = `a target triple or a valid \`cfg(…)\` with at most ${NESTING_MAX} levels`

/**
 * Whether `text` is the platform of a dependency: a target triple or `cfg(…)` in the grammar of
 * Cargo (its crate `cargo-platform`), within limits of length and nesting. Cargo parses every line
 * of an index file, so a bad target stops all users of the crate.
 */
export function isTarget(text: string): boolean {
  if (text.length > TARGET_MAX) return false
  if (!text.startsWith('cfg(') || !text.endsWith(')'))
    return !/[^\p{Alphabetic}\p{N}_.-]/u.test(text)
  const tokens = tokensOf(text)
  return tokens !== null && isExpression(tokens)
}

/** Returns a target as Cargo prints it: `cfg(a="b",)` becomes `cfg(a = "b")`. */
export function printTarget(text: string): string {
  const tokens = text.startsWith('cfg(') && text.endsWith(')') ? tokensOf(text) : null
  if (tokens === null) return text
  const printed = tokens.map((token, at) => {
    if (token === '=') return ' = '
    if (token !== ',') return token
    return tokens[at + 1] === ')' ? '' : ', '
  })
  return `cfg(${printed.join('')})`
}

/** Returns the tokens inside `cfg(…)`, without spaces; null if something is no token. */
function tokensOf(text: string): string[] | null {
  const inside = text.slice('cfg('.length, -1)
  const pieces = inside.match(TOKEN) ?? []
  return pieces.join('') === inside ? pieces.filter(piece => !piece.startsWith(' ')) : null
}

function isExpression(tokens: readonly string[]): boolean {
  let at = 0
  const eat = (token: string): boolean => {
    if (tokens[at] !== token) return false
    at++
    return true
  }
  const predicate = (levels: number): boolean => {
    const word = tokens[at++] ?? ''
    if (!/^\w/.test(word)) return false
    if (word === 'not') return levels > 0 && eat('(') && predicate(levels - 1) && eat(')')
    if (word === 'all' || word === 'any') return levels > 0 && eat('(') && several(levels - 1)
    return !eat('=') || (tokens[at++] ?? '').startsWith('"')
  }
  const several = (levels: number): boolean => {
    while (!eat(')')) {
      if (!predicate(levels)) return false
      if (!eat(',')) return eat(')')
    }
    return true
  }
  return predicate(NESTING_MAX) && at === tokens.length
}
