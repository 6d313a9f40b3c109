import { isUtf8 } from 'node:buffer'
import { HTTPException } from 'hono/http-exception'
import { printParseErrorCode, visit } from 'jsonc-parser'
import { readWhole } from '../form/form.ts'
import type { Problem } from './problem.ts'

/** The deepest nesting of brackets that is read: deeper input costs stack when it is echoed. */
export const NESTING_LIMIT = 512

const JSON_TYPE = /^application\/(?:json|[^\s;/]+\+json)\s*(?:;|$)/i

/**
 * Reads a JSON body. Another type, or none, leaves it as text, which is no object. Never 415.
 * @throws HTTPException 400 for what is not UTF-8 or nested too deep, 413 beyond the limit
 */
export async function readJson(
  chunks: AsyncIterable<Uint8Array>,
  contentType: string,
): Promise<{ readonly value: unknown } | Problem> {
  const bytes = await readWhole(chunks)
  if (bytes.length === 0)
    return { type: 'missing', loc: ['body'], msg: 'Field required', input: null }
  if (!JSON_TYPE.test(contentType)) return { value: bytes.toString() }
  const text = bytes.toString().replace(/^\ufeff/, '')
  if (!isUtf8(bytes) || nestingDepth(text) > NESTING_LIMIT) {
    throw new HTTPException(400, { message: 'There was an error parsing the body' })
  }
  try {
    return { value: JSON.parse(text) }
  } catch {
    return syntaxProblem(text)
  }
}

/** Where the text stops being JSON, which `JSON.parse` does not always tell. */
function syntaxProblem(text: string): Problem {
  const found: [offset: number, error: string][] = []
  const onError = (code: number, offset: number) => {
    if (found.length === 0) found.push([offset, printParseErrorCode(code)])
  }
  visit(text, { onError }, { disallowComments: true })
  const [[offset, error] = [0, 'InvalidSymbol']] = found
  // An offset counts code points, as Python does.
  const pairs = text.slice(0, offset).match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0
  const loc = ['body', offset - pairs]
  return { type: 'json_invalid', loc, msg: 'JSON decode error', input: {}, ctx: { error } }
}

/** How deep the brackets of a text nest at most, valid JSON or not; one pass, no recursion. */
function nestingDepth(text: string): number {
  let [depth, deepest, quoted] = [0, 0, false]
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]
    if (character === '"') quoted = !quoted
    else if (quoted) at += character === '\\' ? 1 : 0
    else if (character === '[' || character === '{') deepest = Math.max(deepest, ++depth)
    else if (character === ']' || character === '}') depth -= 1
  }
  return deepest
}
