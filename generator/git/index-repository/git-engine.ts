import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { blobId } from './bare-repository.ts'
import {
  type CommitInfo,
  type Engine,
  type IndexChange,
  type IndexFile,
  REGISTRY,
  secondsOf,
  type Tip,
} from './engine.ts'
import { finish, type GitAt, startGit } from './git-process.ts'

/** How long `fast-import` waits for the next commit: starting it costs more than a commit. */
const IDLE_MS = 5_000

/** The engine that runs the `git` executable: one `fast-import` for commits that follow soon. */
export class GitEngine implements Engine {
  readonly #git: GitAt
  #importing: FastImport | null = null
  #idle: NodeJS.Timeout | undefined

  constructor(git: GitAt) {
    this.#git = git
  }

  async commit(
    tip: Tip,
    changes: readonly IndexChange[],
    info: CommitInfo,
  ): Promise<string | null> {
    clearTimeout(this.#idle)
    // A signal to all processes of the daemon has ended it, too.
    if (this.#importing?.hasEnded) this.#importing = null
    const isReused = this.#importing !== null
    this.#importing ??= new FastImport(this.#git)
    try {
      const id = await this.#importing.commit(tip, changes, info)
      this.#idle = setTimeout(() => void this.rest(), IDLE_MS)
      return id
    } catch (error) {
      this.#importing.abandon()
      this.#importing = null
      // It may have died since its last commit; the ref moves only once.
      if (isReused) return this.commit(tip, changes, info)
      throw error
    }
  }

  /** Ends `fast-import`, which keeps its packs from being packed until then. */
  async rest(): Promise<void> {
    clearTimeout(this.#idle)
    const importing = this.#importing
    this.#importing = null
    // Every commit is complete: what git says at its end is about branches that others have moved.
    await importing?.done().catch(() => undefined)
  }

  async *list(commit: string): AsyncGenerator<IndexFile> {
    const child = startGit(this.#git, ['ls-tree', '-r', '-z', '--full-tree', commit])
    const end = finish(child, 'ls-tree')
    end.catch(() => {})
    try {
      let rest = ''
      for await (const chunk of child.stdout.setEncoding('utf8')) {
        const lines = `${rest}${chunk}`.split('\0')
        rest = lines.pop() ?? ''
        for (const line of lines) yield { id: line.slice(12, 52), path: line.slice(53) }
      }
      await end
    } finally {
      child.kill()
    }
  }
}

/**
 * One run of `git fast-import`, which lists files of HEAD and gets a commit, again and again
 * (git-fast-import, "Input Format"). It reads only the trees above changed files, so its cost
 * depends on neither the size of the registry nor its history.
 */
class FastImport {
  readonly #child: ChildProcessWithoutNullStreams
  readonly #answers: AsyncIterator<string>
  readonly #end: Promise<void>

  constructor(git: GitAt) {
    const args = ['fast-import', '--quiet', '--done', '--date-format=raw']
    // A session of its own: Ctrl-C is for the daemon alone, which commits once more.
    this.#child = startGit(git, args, { detached: true })
    this.#answers = createInterface({
      input: this.#child.stdout,
      crlfDelay: Number.POSITIVE_INFINITY,
    })[Symbol.asyncIterator]()
    this.#end = finish(this.#child, 'fast-import')
    // Handled in `done`; until then it must not end the process as an unhandled rejection.
    this.#end.catch(() => {})
  }

  /** Appends a commit of what differs; returns its id, or null. Its pack and ref are complete. */
  async commit(
    tip: Tip,
    changes: readonly IndexChange[],
    info: CommitInfo,
  ): Promise<string | null> {
    const paths = changes.map(({ path }) => path)
    const ids = tip.head === null ? [] : await this.#ids(tip.head, paths)
    const different = changes.filter(
      ({ bytes }, at) => (bytes ? blobId(bytes) : null) !== (ids[at] ?? null),
    )
    return different.length > 0 ? this.#append(tip, different, info) : null
  }

  /** Returns the blob ids of `paths` in commit `head`, null for each missing file. */
  async #ids(head: string, paths: readonly string[]): Promise<(string | null)[]> {
    const asking = this.#write(paths.map(path => `ls ${head} ${path}\n`))
    // When git dies, the answer may fail first; nobody would handle this one.
    asking.catch(() => {})
    const ids: (string | null)[] = []
    for (const _ of paths)
      ids.push(/^100644 blob ([0-9a-f]{40})\t/.exec(await this.#answer())?.[1] ?? null)
    await asking
    return ids
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  async #append(
    { ref, head }: Tip,
    changes: readonly IndexChange[],
    info: CommitInfo,
  ): Promise<string> {
    const message = Buffer.from(info.message)
    const person = `${REGISTRY.name} <${REGISTRY.email}> ${secondsOf(info)} +0000`
    const writing = this.#write([
      `commit ${ref}\nmark :1\nauthor ${person}\ncommitter ${person}\n`,
      `data ${message.length}\n`,
      message,
      `\n${head ? `from ${head}\n` : ''}`,
      ...changes.flatMap(({ path, bytes }) =>
        bytes ? [`M 100644 inline ${path}\ndata ${bytes.length}\n`, bytes, '\n'] : [`D ${path}\n`],
      ),
      '\nget-mark :1\ncheckpoint\nprogress done\n',
    ])
    // As in `ids`.
    writing.catch(() => {})
    const id = await this.#answer()
    await this.#answer()
    await writing
    return id
  }

  async done(): Promise<void> {
    this.#child.stdin.end('done\n')
    await this.#end
  }

  abandon(): void {
    if (!this.hasEnded) this.#child.kill('SIGKILL')
  }

  async #answer(): Promise<string> {
    const { value, done } = await this.#answers.next()
    if (!done) return value
    await this.#end
    throw new Error('git fast-import ended without an answer')
  }

  async #write(parts: readonly (string | Uint8Array)[]): Promise<void> {
    for (const part of parts)
      if (!this.#child.stdin.write(part) && this.#child.stdin.writable)
        await Promise.race([once(this.#child.stdin, 'drain'), this.#end])
  }
}
