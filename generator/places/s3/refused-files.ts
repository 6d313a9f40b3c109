import { type Issue, issue, Refusal } from '../../../core/error/error.ts'
import { releaseOfPath } from '../../../core/paths/crates.ts'
import { indexPath } from '../../../core/paths/tree.ts'

/** After this many refusals, check whether the bucket accepts writes at all. */
const MANY = 32

/** `file_refused` for files of an upload, of which everything else is done. */
export class FileRefusal extends Refusal {
  readonly #paths: readonly string[]

  constructor(issues: readonly [Issue, ...Issue[]], paths: readonly string[]) {
    super(issues)
    this.#paths = paths
  }

  get paths(): readonly string[] {
    return this.#paths
  }
}

/** Returns the index file that is not to precede a `.crate`; null for the path of another file. */
export function indexFileAfter(path: string): string | null {
  const release = releaseOfPath(path)
  return release && indexPath(release.name)
}

/** The files of an upload that an object storage refuses, while the others go on. */
export class RefusedFiles {
  readonly #refusals = new Map<string, Refusal>()
  readonly #hidden = new Set<string>()
  readonly #takesFiles: () => Promise<boolean>
  /** No more uploads begin until it is clear whether the storage takes any. */
  #asked: Promise<void> | null = null

  /** `takesFiles` returns whether the storage takes a file that it should take. */
  constructor(takesFiles: () => Promise<boolean>) {
    this.#takesFiles = takesFiles
  }

  /** Runs `work` on a file; records a refusal of the storage. Throws every other error. */
  async try(path: string, work: () => Promise<void>): Promise<void> {
    await this.#asked
    try {
      await work()
    } catch (error) {
      if (!(error instanceof Refusal) || !error.has('bucket_refuses')) throw error
      this.#refusals.set(path, error)
      const index = indexFileAfter(path)
      if (index) this.#hidden.add(index)
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

  /** Throws a `FileRefusal` for all of them, if any. */
  throw(): void {
    const [first, ...more] = [...this.#refusals].map(
      ([path, { message }]): Issue => issue('file_refused', { path, reason: message }),
    )
    if (first) throw new FileRefusal([first, ...more], [...this.#refusals.keys()])
  }
}
