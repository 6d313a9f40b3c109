import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { cleanEnvironment, finish, startGit } from './git-process.ts'

export interface UploadPackOptions {
  readonly repositoryPath: string
  readonly gitCommand: string
  /** The client's word for the protocol it speaks; 0 when it says nothing (gitprotocol-v2). */
  readonly protocol: 0 | 1 | 2
  /** The first half of the exchange, which lists refs or capabilities, instead of the second. */
  readonly advertise: boolean
  readonly input: Uint8Array
}

/** One stateless answer of `git upload-pack`. Nothing in its command line comes from a client. */
export class UploadPack {
  readonly #child: ChildProcessWithoutNullStreams
  readonly #end: Promise<void>

  constructor(options: UploadPackOptions) {
    const { repositoryPath: path, gitCommand: command, protocol, advertise, input } = options
    const mode = advertise ? ['--http-backend-info-refs'] : []
    const env = cleanEnvironment(path)
    if (protocol > 0) env.GIT_PROTOCOL = `version=${protocol}`
    const args = ['upload-pack', '--strict', '--stateless-rpc', ...mode, '--', path]
    // Git stops reading when it has seen enough; its exit code tells whether that was a failure.
    this.#child = startGit({ command, path }, args, { env })
    this.#end = finish(this.#child, 'upload-pack')
    // Observed at the end of `output`, which may never be reached when the client goes away.
    this.#end.catch(() => {})
    this.#child.stdin.end(input)
  }

  /** Git's answer as a stream; throws when git fails, so that no broken answer looks complete. */
  async *output(): AsyncGenerator<Uint8Array> {
    try {
      yield* this.#child.stdout
      await this.#end
    } finally {
      this.stop()
    }
  }

  /** Ends git and, by its own handling of SIGTERM, the packer it has started. */
  stop(): void {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    this.#child.kill('SIGTERM')
    const last = setTimeout(() => this.#child.kill('SIGKILL'), 2_000)
    last.unref()
    this.#child.once('exit', () => clearTimeout(last))
  }
}
