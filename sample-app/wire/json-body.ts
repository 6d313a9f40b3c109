import { parseExact } from './exact-json.ts'
import { findSyntaxProblem, nestingDepth, type SyntaxProblem } from './json-syntax.ts'
import { refusal } from './response.ts'

/** The most bytes a body that is read whole may have: 16 MiB. Files are streamed and have no limit. */
export const BODY_LIMIT = 16 * 1024 * 1024
/** The deepest nesting of brackets that is read; deeper input costs stack when it is checked and echoed. */
export const NESTING_LIMIT = 512

/** What a request body turned out to be. `text` is a body that was not declared as JSON. */
export type JsonBody =
  | { readonly kind: 'absent' }
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'invalid'; readonly problem: SyntaxProblem }

const JSON_TYPE = /^application\/(?:json|[^\s;/]+\+json)\s*(?:;|$)/i

/**
 * Reads a JSON body. `application/json` and `application/<x>+json` are JSON; any other type, or none, leaves the body as
 * text, which a model then refuses. Never 415. An integer beyond 2^53 is a bigint.
 * @throws 400 for bytes that are not UTF-8 or brackets nested too deep, 413 beyond the limit
 */
export async function readJsonBody(chunks: AsyncIterable<Uint8Array>, contentType: string): Promise<JsonBody> {
  const bytes = await readWhole(chunks)
  if (bytes.length === 0) return { kind: 'absent' }
  if (!JSON_TYPE.test(contentType))
    return { kind: 'value', value: new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes) }
  const text = decodeUtf8(bytes)
  if (nestingDepth(text) > NESTING_LIMIT) throw unreadable()
  try {
    return { kind: 'value', value: parseExact(text) }
  } catch (error) {
    const problem = findSyntaxProblem(text)
    if (!problem) throw error
    return { kind: 'invalid', problem }
  }
}

async function readWhole(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const chunk of chunks) {
    size += chunk.length
    if (size > BODY_LIMIT) throw refusal(413, 'Request body too large')
    parts.push(chunk)
  }
  return Buffer.concat(parts)
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw unreadable()
  }
}

function unreadable() {
  return refusal(400, 'There was an error parsing the body')
}
