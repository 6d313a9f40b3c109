import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { refuse } from '../../../../core/error/error.ts'
import { cleanEnvironment, finish } from '../../../git/index-repository/git-process.ts'

/**
 * Git for a repository that a stranger may have made. No transport is allowed: a partial clone
 * could otherwise run a command from its own configuration.
 */
function startQuietGit(path: string, args: readonly string[]): ChildProcessWithoutNullStreams {
  const env = { ...cleanEnvironment(path), GIT_ALLOW_PROTOCOL: '', GIT_NO_LAZY_FETCH: '1' }
  const child = spawn('git', ['--git-dir', path, ...args], { env })
  // Git may end before it has read everything; its exit code tells, the broken pipe adds nothing.
  child.stdin.on('error', () => undefined)
  return child
}

/** Runs git to its end and gives its standard output. */
export async function runQuietGit(path: string, args: readonly string[]): Promise<Buffer> {
  const child = startQuietGit(path, args)
  child.stdin.end()
  const parts: Buffer[] = []
  child.stdout.on('data', (part: Buffer) => parts.push(part))
  await finish(child, args[0] ?? '')
  return Buffer.concat(parts)
}

/** Reads blobs one after the other through one `git cat-file --batch`. */
export class GitBlobs {
  readonly #child: ChildProcessWithoutNullStreams
  readonly #end: Promise<void>
  readonly #pieces: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(path: string) {
    this.#child = startQuietGit(path, ['cat-file', '--batch'])
    this.#end = finish(this.#child, 'cat-file')
    // Handled in `close`.
    this.#end.catch(() => undefined)
    this.#pieces = this.#child.stdout[Symbol.asyncIterator]()
  }

  /** The bytes of a blob; null when the repository does not have it, although it should. */
  async read(id: string): Promise<Buffer | null> {
    this.#child.stdin.write(`${id}\n`)
    while (!this.#rest.includes(0x0a)) await this.#more()
    const end = this.#rest.indexOf(0x0a)
    const header = this.#rest.toString('latin1', 0, end)
    const size = /^[0-9a-f]+ blob (\d+)$/.exec(header)?.[1]
    if (size !== undefined) return this.#exactly(end + 1, Number(size))
    this.#rest = this.#rest.subarray(end + 1)
    return null
  }

  async close(): Promise<void> {
    this.#child.stdin.end()
    await this.#end
  }

  /** The bytes after a header, without the line end that follows them. */
  async #exactly(start: number, size: number): Promise<Buffer> {
    const parts = [this.#rest.subarray(start)]
    let length = this.#rest.length - start
    while (length < size + 1) {
      this.#rest = Buffer.alloc(0)
      await this.#more()
      parts.push(this.#rest)
      length += this.#rest.length
    }
    const all = Buffer.concat(parts)
    this.#rest = all.subarray(size + 1)
    return all.subarray(0, size)
  }

  async #more(): Promise<void> {
    const next = await this.#pieces.next()
    if (next.done) {
      await this.#end
      refuse('git_failed', { command: 'cat-file', detail: 'it ended early' })
    }
    this.#rest = Buffer.concat([this.#rest, next.value])
  }
}
