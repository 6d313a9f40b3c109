import { textsOf } from '../source/content.ts'
import { type FilePair, type Files, pairFiles } from './file-pairs.ts'
import { type Hunk, type LineDiff, LineDiffs } from './line-diff.ts'

export interface ChangedFile extends FilePair {
  /** The numbers of added and removed lines; null for a file that is no text, or too large. */
  readonly lines: Pick<LineDiff, 'added' | 'removed' | 'isMatched'> | null
  /** In bytes; null where the file is missing. */
  readonly sizes: readonly [before: number | null, after: number | null]
}

/** The differences between the files of two packages. */
export class PackageDiff {
  readonly files: readonly ChangedFile[]
  readonly #lines: readonly (LineDiff | null)[]

  constructor(before: Files, after: Files) {
    const diffs = new LineDiffs()
    const pairs = pairFiles(before, after)
    const bytesIn = (files: Files, path: string | null) => files.get(path ?? '') ?? new Uint8Array()
    this.#lines = pairs.map(pair => {
      const texts = textsOf([bytesIn(before, pair.before), bytesIn(after, pair.after)])
      return texts && diffs.compare(texts[0] ?? '', texts[1] ?? '')
    })
    const sizeIn = (files: Files, path: string | null) => files.get(path ?? '')?.length ?? null
    this.files = pairs.map((pair, at) => {
      const lines = this.#lines[at] ?? null
      const { added = 0, removed = 0, isMatched = true } = lines ?? {}
      return {
        ...pair,
        lines: lines && { added, removed, isMatched },
        sizes: [sizeIn(before, pair.before), sizeIn(after, pair.after)],
      }
    })
  }

  hunks(at: number): Hunk[] {
    return this.#lines[at]?.hunks() ?? []
  }
}
