/** A file of a package. */
export interface SourceFile {
  /** Path inside the package, with `/`. */
  readonly path: string
  readonly size: number
  /** Null for a large file. */
  readonly content: Uint8Array | null
}

/** Largest file that is shown, in bytes. */
export const FILE_MAX = 256 * 1024

/** The text of a file; null for a file that is too large or not UTF-8 text. */
export function fileText(file: SourceFile): string | null {
  if (file.content === null || file.size > FILE_MAX || file.content.includes(0)) return null
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(file.content).replace(/\r\n?/g, '\n')
  } catch {
    return null // not UTF-8: listed as binary
  }
}
