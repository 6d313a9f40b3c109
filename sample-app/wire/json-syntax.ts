/** Where a text stops being JSON, and what was expected there. */
export interface SyntaxProblem {
  /** Characters (Unicode code points) from the start of the text. */
  readonly offset: number
  readonly expected: string
}

const BLANK = /[ \t\n\r]*/y
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const LITERAL = /true|false|null/y
/** Everything from the space on, but for the quote and the backslash. */
const PLAIN = /[ !#-[\]-\uffff]*/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y

class SyntaxFailure extends Error {
  readonly at: number

  constructor(expected: string, at: number) {
    super(expected)
    this.at = at
  }
}

/**
 * Explains why `JSON.parse` refused a text; its own messages name no position at the end of the text and another one
 * for an unterminated string. Returns undefined for valid JSON.
 * @param text nested no deeper than the call stack allows: check `nestingDepth` first
 */
export function findSyntaxProblem(text: string): SyntaxProblem | undefined {
  try {
    const end = skipBlank(text, scanValue(text, skipBlank(text, 0)))
    if (end !== text.length) throw new SyntaxFailure('Extra data', end)
    return undefined
  } catch (failure) {
    if (!(failure instanceof SyntaxFailure)) throw failure
    return { offset: [...text.slice(0, failure.at)].length, expected: failure.message }
  }
}

/** How deep the brackets of a text nest at most, valid JSON or not; one pass, no recursion. */
export function nestingDepth(text: string): number {
  let depth = 0
  let deepest = 0
  let quoted = false
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]
    if (quoted && character === '\\') at += 1
    else if (character === '"') quoted = !quoted
    else if (!quoted && (character === '[' || character === '{')) deepest = Math.max(deepest, ++depth)
    else if (!quoted && (character === ']' || character === '}')) depth -= 1
  }
  return deepest
}

function scanValue(text: string, at: number): number {
  switch (text[at]) {
    case '"':
      return scanString(text, at)
    case '{':
      return scanObject(text, at)
    case '[':
      return scanArray(text, at)
    default: {
      const end = match(LITERAL, text, at) ?? match(NUMBER, text, at)
      if (end === undefined) throw new SyntaxFailure('Expecting value', at)
      return end
    }
  }
}

function scanObject(text: string, start: number): number {
  let at = skipBlank(text, start + 1)
  if (text[at] === '}') return at + 1
  for (;;) {
    if (text[at] !== '"') throw new SyntaxFailure('Expecting property name enclosed in double quotes', at)
    at = skipBlank(text, scanString(text, at))
    if (text[at] !== ':') throw new SyntaxFailure("Expecting ':' delimiter", at)
    at = skipBlank(text, scanValue(text, skipBlank(text, at + 1)))
    if (text[at] === '}') return at + 1
    at = skipBlank(text, comma(text, at))
  }
}

function scanArray(text: string, start: number): number {
  let at = skipBlank(text, start + 1)
  if (text[at] === ']') return at + 1
  for (;;) {
    at = skipBlank(text, scanValue(text, at))
    if (text[at] === ']') return at + 1
    at = skipBlank(text, comma(text, at))
  }
}

function scanString(text: string, quote: number): number {
  let at = quote + 1
  for (;;) {
    at = match(PLAIN, text, at) ?? at
    if (text[at] === '"') return at + 1
    if (at >= text.length) throw new SyntaxFailure('Unterminated string starting at', quote)
    if (text[at] !== '\\') throw new SyntaxFailure('Invalid control character at', at)
    if (at + 1 >= text.length) throw new SyntaxFailure('Unterminated string starting at', quote)
    const end = match(ESCAPE, text, at)
    if (end === undefined) {
      if (text[at + 1] === 'u') throw new SyntaxFailure('Invalid \\uXXXX escape', at + 1)
      throw new SyntaxFailure('Invalid \\escape', at)
    }
    at = end
  }
}

function comma(text: string, at: number): number {
  if (text[at] !== ',') throw new SyntaxFailure("Expecting ',' delimiter", at)
  return at + 1
}

function skipBlank(text: string, at: number): number {
  return match(BLANK, text, at) ?? at
}

/** The end of a sticky pattern's match at this place, or undefined. */
function match(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : undefined
}
