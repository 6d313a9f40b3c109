import { type Issue, issue, Refusal } from '../../../core/error/error.ts'
import { releaseOfPath } from '../../../core/paths/crates.ts'
import { indexPath } from '../../../core/paths/tree.ts'

/** After so many refused files it is asked whether the storage takes any. */
const MANY = 32

/** The files of an upload that an object storage refuses, while the others go on. */
export class RefusedFiles {
  readonly #refusals = new Map<string, Refusal>()
  readonly #hidden = new Set<string>()
  readonly #takesFiles: () => Promise<boolean>
  /** Until it is known whether the storage takes any, no more files begin. */
  #asked: Promise<void> | null = null

  /** `takesFiles` returns whether the storage takes a file that it has taken before. */
  constructor(takesFiles: () => Promise<boolean>) {
    this.#takesFiles = takesFiles
  }

  /** Runs `work` on a file; notes when the storage refuses it. Throws every other error. */
  async try(path: string, work: () => Promise<void>): Promise<void> {
    await this.#asked
    try {
      await work()
    } catch (error) {
      if (!(error instanceof Refusal) || !error.has('bucket_refuses')) throw error
      this.#refusals.set(path, error)
      const release = releaseOfPath(path)
      if (release) this.#hidden.add(indexPath(release.name))
      if (this.#refusals.size !== MANY) return
      this.#asked = this.check()
      await this.#asked
    }
  }

  /** Throws the first refusal if the storage takes no files at all. */
  async check(): Promise<void> {
    const [first] = this.#refusals.values()
    if (first && !(await this.#takesFiles())) throw first
  }

  /** Returns whether a file is an index file that would precede a refused `.crate`. */
  hides(path: string): boolean {
    return this.#hidden.has(path)
  }

  /** Throws `file_refused` for each file, if any. */
  throw(): void {
    const [first, ...more] = [...this.#refusals].map(
      ([path, { message }]): Issue => issue('file_refused', { path, reason: message }),
    )
    if (first) throw new Refusal([first, ...more])
  }
}
