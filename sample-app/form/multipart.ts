import { refusal } from '../wire/response.ts'
import { decodeHeader } from './header-value.ts'
import { HEADER_LIMIT } from './limits.ts'

/** What a multipart body consists of, in the order of the wire; a part without an `end` was cut off. */
export type MultipartEvent =
  | { readonly kind: 'part'; readonly headers: ReadonlyMap<string, string> }
  | { readonly kind: 'data'; readonly bytes: Uint8Array }
  | { readonly kind: 'end' }

const HEADER = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([^\0\r\n]*)$/
const LINE = Buffer.from('\r\n')
const BLANK_LINE = Buffer.from('\r\n\r\n')

/**
 * Splits a multipart body (RFC 7578) as it arrives. Holds at most one chunk, one delimiter and the headers of one part;
 * a slow consumer slows the sender down.
 * @throws 400 `Invalid multipart data.` where the framing is broken. A body that just ends is not broken, only short.
 */
export async function* readMultipart(
  chunks: AsyncIterable<Uint8Array>,
  boundary: string,
): AsyncGenerator<MultipartEvent> {
  const splitter = new Splitter(boundary)
  for await (const chunk of chunks) yield* splitter.push(chunk)
}

class Splitter {
  readonly #delimiter: Buffer
  #state: 'preamble' | 'headers' | 'data' | 'epilogue' = 'preamble'
  /** Bytes that cannot be judged before more arrive. */
  #rest: Buffer = Buffer.alloc(0)

  constructor(boundary: string) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1')
  }

  *push(chunk: Uint8Array): Generator<MultipartEvent> {
    if (this.#state === 'epilogue') return
    const arrived = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
    this.#rest = this.#rest.length === 0 ? arrived : Buffer.concat([this.#rest, arrived])
    for (let moved = true; moved; ) {
      if (this.#state === 'preamble') moved = this.#preamble()
      else if (this.#state === 'headers') moved = yield* this.#headers()
      else if (this.#state === 'data') moved = yield* this.#data()
      else moved = false
    }
  }

  /** Line breaks may stand before the first delimiter, nothing else. */
  #preamble(): boolean {
    const start = this.#rest.findIndex(byte => byte !== LINE[0] && byte !== LINE[1])
    this.#rest = this.#rest.subarray(start === -1 ? this.#rest.length : start)
    const first = this.#delimiter.subarray(LINE.length)
    const length = Math.min(first.length, this.#rest.length)
    if (this.#rest.compare(first, 0, length, 0, length) !== 0) throw broken()
    if (this.#rest.length < first.length + 2) return false
    this.#state = this.#stateAfter(first.length) ?? raise(broken())
    this.#take(first.length + 2)
    return true
  }

  *#headers(): Generator<MultipartEvent, boolean> {
    const none = this.#rest.indexOf(LINE) === 0
    const end = none ? 0 : this.#rest.indexOf(BLANK_LINE)
    if (end > HEADER_LIMIT || (end === -1 && this.#rest.length > HEADER_LIMIT + BLANK_LINE.length)) throw broken()
    if (end === -1) return false
    yield { kind: 'part', headers: parseHeaders(this.#take(end)) }
    this.#take(none ? LINE.length : BLANK_LINE.length)
    this.#state = 'data'
    return true
  }

  *#data(): Generator<MultipartEvent, boolean> {
    const at = this.#rest.indexOf(this.#delimiter)
    const certain = at === -1 ? this.#endOfCertainData() : at
    if (certain > 0) yield { kind: 'data', bytes: this.#take(certain) }
    const length = this.#delimiter.length
    if (at === -1 || this.#rest.length < length + 2) return false
    const next = this.#stateAfter(length)
    if (next) {
      yield { kind: 'end' }
      this.#take(length + 2)
      this.#state = next
    } else {
      // The text of the delimiter inside of a longer line is data like any other.
      yield { kind: 'data', bytes: this.#take(length) }
    }
    return true
  }

  /** Where the beginning of a delimiter may stand whose rest is still to come; the end of the bytes if it does not. */
  #endOfCertainData(): number {
    const { length } = this.#rest
    let at = this.#rest.indexOf(LINE[0] ?? 0, Math.max(0, length - this.#delimiter.length + 1))
    while (at !== -1 && this.#rest.compare(this.#delimiter, 0, length - at, at) !== 0) {
      at = this.#rest.indexOf(LINE[0] ?? 0, at + 1)
    }
    return at === -1 ? length : at
  }

  /** What follows a delimiter that ends at this place: another part after a line break, nothing after two hyphens. */
  #stateAfter(at: number): 'headers' | 'epilogue' | undefined {
    const follower = this.#rest.toString('latin1', at, at + 2)
    if (follower === '\r\n') return 'headers'
    return follower === '--' ? 'epilogue' : undefined
  }

  #take(length: number): Buffer {
    const taken = this.#rest.subarray(0, length)
    this.#rest = this.#rest.subarray(length)
    return taken
  }
}

function parseHeaders(block: Buffer): Map<string, string> {
  const headers = new Map<string, string>()
  for (const line of block.length === 0 ? [] : decodeHeader(block).split('\r\n')) {
    const [, name, value] = HEADER.exec(line) ?? raise(broken())
    headers.set((name ?? '').toLowerCase(), (value ?? '').trim())
  }
  return headers
}

function broken() {
  return refusal(400, 'Invalid multipart data.')
}

function raise(error: Error): never {
  throw error
}
