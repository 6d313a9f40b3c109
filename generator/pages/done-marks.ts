import type { Mark } from '../store/catalog/marks.ts'
import type { MarkKind } from '../store/database/mark-kinds.ts'

/** Marks whose pages are rendered, but not yet on disk. */
export class DoneMarks {
  readonly #marks = new Map<string, Mark>()

  /** Adds marks; of one that was renewed in between, the newer. */
  add(marks: readonly Mark[]): void {
    for (const mark of marks) this.#marks.set(`${mark.kind} ${mark.subject}`, mark)
  }

  /** Whether this very mark is done; one that was renewed since is not. */
  has({ kind, subject, generation }: Mark): boolean {
    return this.#marks.get(`${kind} ${subject}`)?.generation === generation
  }

  /** What the marks of a kind are about. */
  subjects(kind: MarkKind): number[] {
    return this.marks.filter(mark => mark.kind === kind).map(mark => mark.subject)
  }

  get marks(): readonly Mark[] {
    return [...this.#marks.values()]
  }
}
