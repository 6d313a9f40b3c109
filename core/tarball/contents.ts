import { decodeUtf8, gather } from './bytes.ts'

export interface Contents {
  readonly files: number
  readonly bytes: number
  readonly rust: RustCode
  /** The names of license texts in the top folder, at most 10, and the license file. */
  readonly licenses: readonly string[]
}

/** The lines of all `.rs` files. Blank lines are neither code nor comments. */
export interface RustCode {
  readonly files: number
  readonly code_lines: number
  readonly comment_lines: number
}

/** Matches a license text in the top folder, such as `LICENSE-MIT`, by a name that links can have. */
const LICENSE = /^(?=[\w+][\w.+-]{0,99}$)(?!.*\.rs$)(?:.*[-_.])?(?:(?:un)?licen[cs]e|copying)/i

const LICENSE_BYTES = 64 * 1024
const LICENSES_MAX = 10

/** Counts the contents of a package while its archive is read; the last file of a path counts. */
export class ContentsCount {
  readonly #sizes = new Map<string, number>()
  readonly #lines = new Map<string, LineCount>()
  readonly #licenses = new Set<string>()

  /** Counts a file; `path` is relative to the top folder. Reads only Rust code and licenses. */
  async add(
    { path, size }: { readonly path: string; readonly size: number },
    read: () => AsyncIterable<Uint8Array>,
  ): Promise<void> {
    this.#sizes.set(path, size)
    this.#licenses.delete(path)
    const isMore = size <= LICENSE_BYTES && this.#licenses.size < LICENSES_MAX
    if (path.endsWith('.rs')) {
      const lines = new LineCount()
      this.#lines.set(path, lines)
      for await (const piece of read()) lines.add(piece)
      lines.endLine()
    } else if (isMore && LICENSE.test(path)) {
      const text = decodeUtf8(await gather(read()))
      if (text !== null && !text.includes('\0')) this.#licenses.add(path)
    }
  }

  get contents(): Contents {
    let [bytes, code_lines, comment_lines] = [0, 0, 0]
    for (const size of this.#sizes.values()) bytes += size
    for (const { code, comments } of this.#lines.values()) {
      code_lines += code
      comment_lines += comments
    }
    const rust = { files: this.#lines.size, code_lines, comment_lines }
    return { files: this.#sizes.size, bytes, rust, licenses: [...this.#licenses].sort() }
  }
}

const [NEWLINE, SPACE, SLASH] = [10, 32, 47]

const [BLANK, SLASHED, CODE, COMMENT] = [0, 1, 2, 3]

class LineCount {
  code = 0
  comments = 0
  #kind = BLANK

  add(piece: Uint8Array): void {
    for (let at = 0; at < piece.length; at++) {
      // The rest of the line cannot change its kind; the built-in search is faster than this loop.
      if (this.#kind > SLASHED) at = Uint8Array.prototype.indexOf.call(piece, NEWLINE, at)
      if (at === -1) return
      const byte = piece[at] ?? 0
      if (byte === NEWLINE) this.endLine()
      else if (this.#kind === SLASHED) this.#kind = byte === SLASH ? COMMENT : CODE
      else if (byte > SPACE) this.#kind = byte === SLASH ? SLASHED : CODE
    }
  }

  endLine(): void {
    if (this.#kind === COMMENT) this.comments++
    else if (this.#kind !== BLANK) this.code++
    this.#kind = BLANK
  }
}
