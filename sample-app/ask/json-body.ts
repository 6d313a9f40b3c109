import { isUtf8 } from 'node:buffer'
import { HTTPException } from 'hono/http-exception'
import { printParseErrorCode, visit } from 'jsonc-parser'
import { type Chunks, readWhole } from '../form/form.ts'
import type { Problem } from './problem.ts'

/** The deepest nesting of brackets that is read: deeper input costs stack when it is echoed. */
export const NESTING_LIMIT = 512
const JSON_TYPE = /^application\/(?:json|[^\s;/]+\+json)\s*(?:;|$)/i

/** Reads a JSON body. One of another type is text, never a 415; one that is unreadable a 400. */
export async function readJson(chunks: Chunks, type = ''): Promise<{ value: unknown } | Problem> {
  const bytes = await readWhole(chunks)
  const missing = { type: 'missing', loc: ['body'], msg: 'Field required', input: null }
  if (bytes.length === 0) return missing
  if (!JSON_TYPE.test(type)) return { value: bytes.toString() }
  const text = bytes.toString().replace(/^\ufeff/, '')
  if (!isUtf8(bytes) || isTooDeep(text)) {
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
  let [error, before] = ['', text]
  const onError = (code: number, offset: number) => {
    if (error === '') [error, before] = [printParseErrorCode(code), text.slice(0, offset)]
  }
  visit(text, { onError }, { disallowComments: true })
  // An offset counts code points, as Python does.
  const pairs = before.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0
  const loc = ['body', before.length - pairs]
  return { type: 'json_invalid', loc, msg: 'JSON decode error', input: {}, ctx: { error } }
}

/** Whether brackets nest too deep, in valid JSON or not; one pass, no recursion. */
function isTooDeep(text: string): boolean {
  let [depth, isQuoted] = [0, false]
  for (let at = 0; at < text.length && depth <= NESTING_LIMIT; at += 1) {
    const character = text[at]
    if (character === '"') isQuoted = !isQuoted
    else if (isQuoted) at += character === '\\' ? 1 : 0
    else if (character === '[' || character === '{') depth += 1
    else if (character === ']' || character === '}') depth -= 1
  }
  return depth > NESTING_LIMIT
}
