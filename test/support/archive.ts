import { buffer } from 'node:stream/consumers'
import { createGzip } from 'node:zlib'
import { pack } from 'tar-stream'

/** One member of an archive. */
export interface Member {
  readonly name: string
  readonly type?: 'file' | 'symlink' | 'link'
  readonly linkname?: string
  /** Contents of a file. */
  readonly body?: string
  /** Instead of contents: so many zero bytes. */
  readonly zeros?: number
}

/** A gzipped tar archive with these members, sound or not. */
export async function archive(members: readonly Member[]): Promise<Buffer> {
  const tar = pack()
  const zipped = buffer(tar.pipe(createGzip({ level: 1 })))
  for (const { body = '', zeros, ...header } of members) {
    await new Promise<void>((resolve, reject) => {
      const contents = zeros === undefined ? body : Buffer.alloc(zeros)
      tar.entry(header, contents, failure => (failure ? reject(failure) : resolve()))
    })
  }
  tar.finalize()
  return zipped
}
