import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { finish, type GitAt, startGit } from './git-process.ts'
import type { IndexChange, Person, Signatures } from './repository.ts'

/**
 * One run of `git fast-import`: first asked what HEAD has, then fed a commit (git-fast-import,
 * "Input Format"). It reads only the trees above changed files, so its cost depends neither on the
 * size of the registry nor on its history.
 */
export class FastImport {
  readonly #child: ChildProcessWithoutNullStreams
  readonly #answers: AsyncIterator<string>
  readonly #end: Promise<void>

  constructor(git: GitAt) {
    this.#child = startGit(git, ['fast-import', '--quiet', '--done', '--date-format=raw'])
    this.#answers = createInterface({
      input: this.#child.stdout,
      crlfDelay: Number.POSITIVE_INFINITY,
    })[Symbol.asyncIterator]()
    this.#end = finish(this.#child, 'fast-import')
    // Handled in `done`; until then a failure must not end the process as unhandled.
    this.#end.catch(() => {})
  }

  /** The blob ids of `paths` in commit `head`, null where there is none. */
  async ids(head: string, paths: readonly string[]): Promise<(string | null)[]> {
    const asking = this.#write(paths.map(path => `ls ${head} ${path}\n`))
    const ids: (string | null)[] = []
    for (const _ of paths)
      ids.push(/^100644 blob ([0-9a-f]{40})\t/.exec(await this.#answer())?.[1] ?? null)
    await asking
    return ids
  }

  /** Appends a commit to `ref` after `parent` and gives its id. */
  async commit(
    ref: string,
    parent: string | null,
    changes: readonly IndexChange[],
    info: CommitText,
  ): Promise<string> {
    const message = Buffer.from(info.message)
    const { author, committer, seconds } = info.signatures
    const writing = this.#write([
      `commit ${ref}\nmark :1\nauthor ${stamp(author, seconds)}\ncommitter ${stamp(committer, seconds)}\n`,
      `data ${message.length}\n`,
      message,
      `\n${parent ? `from ${parent}\n` : ''}`,
      ...(function* () {
        for (const { path, bytes } of changes) {
          if (bytes) yield* [`M 100644 inline ${path}\ndata ${bytes.length}\n`, bytes, '\n']
          else yield `D ${path}\n`
        }
      })(),
      '\nget-mark :1\n',
    ])
    const id = await this.#answer()
    await writing
    return id
  }

  /** Ends the stream: only now the pack is completed and the ref moved. */
  async done(): Promise<void> {
    this.#child.stdin.end('done\n')
    await this.#end
  }

  /** Ends git where something went wrong before `done`: nothing has been moved then. */
  abandon(): void {
    if (this.#child.exitCode === null && this.#child.signalCode === null)
      this.#child.kill('SIGKILL')
  }

  async #answer(): Promise<string> {
    const { value, done } = await this.#answers.next()
    if (!done) return value
    await this.#end
    throw new Error('git fast-import ended without an answer')
  }

  async #write(parts: Iterable<string | Uint8Array>): Promise<void> {
    for (const part of parts)
      if (!this.#child.stdin.write(part) && this.#child.stdin.writable)
        await Promise.race([once(this.#child.stdin, 'drain'), this.#end])
  }
}

export interface CommitText {
  readonly message: string
  readonly signatures: Signatures
}

function stamp(person: Person, seconds: number): string {
  return `${person.name} <${person.email}> ${seconds} +0000`
}
