import { readHead, UploadPack } from '../../../generator/index.ts'

export type Protocol = 0 | 1 | 2

/** The first half of every conversation, kept as long as HEAD stays: most fetches end here. */
export class Advertisements {
  readonly #repository: { readonly repositoryPath: string; readonly gitCommand: string }
  readonly #kept = new Map<
    Protocol,
    { head: string | null; since: number; body: Promise<Buffer<ArrayBuffer>> }
  >()

  constructor(repository: { readonly repositoryPath: string; readonly gitCommand: string }) {
    this.#repository = repository
  }

  async get(protocol: Protocol): Promise<Buffer<ArrayBuffer>> {
    const head = await readHead(this.#repository.repositoryPath)
    const kept = this.#kept.get(protocol)
    // The minute is for other refs, which an operator may have made by hand.
    if (kept && kept.head === head && Date.now() - kept.since < 60_000) return await kept.body
    const body = this.#make(protocol)
    this.#kept.set(protocol, { head, since: Date.now(), body })
    return await body.catch(error => {
      this.#kept.delete(protocol)
      throw error
    })
  }

  async #make(protocol: Protocol): Promise<Buffer<ArrayBuffer>> {
    const git = new UploadPack({
      ...this.#repository,
      protocol,
      advertise: true,
      input: new Uint8Array(),
    })
    const timer = setTimeout(() => git.stop(), 30_000)
    // The service line belongs to the first protocols only (gitprotocol-http; gitprotocol-v2 "HTTP
    // Transport").
    const chunks: Uint8Array[] =
      protocol === 2 ? [] : [Buffer.from('001e# service=git-upload-pack\n0000')]
    try {
      for await (const chunk of git.output()) chunks.push(chunk)
    } finally {
      clearTimeout(timer)
    }
    return Buffer.concat(chunks)
  }
}
