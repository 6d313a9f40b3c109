import type { Context, HonoRequest } from 'hono'
import { configPath, isIndexFile, notFoundPath } from '../../core/paths/tree.ts'
import { readIndexFile } from '../../generator/records/index-file.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import type { BucketStream, StreamFromBucket } from './bucket-streams.ts'
import { answerHeld, choose, variantOf } from './file-answer.ts'
import { tagOf } from './file-cache.ts'
import {
  type FileHeaders,
  fileHeaders,
  notFound,
  type TreeOptions,
  toFolder,
} from './file-headers.ts'
import type { Part } from './file-part.ts'
import { decodePath, type TreeFiles } from './public-files.ts'

type SharedTree = NonNullable<Registry['tree']['shared']>

/**
 * Serves a public tree in a bucket that several daemons share: index files as the records have them
 * now, so that what was published through another daemon is shown at once, `config.json` as the
 * settings have it, and everything else from the bucket. `.crate` files are for `storedCrates`.
 */
export function bucketFiles(
  shared: SharedTree,
  { database }: Registry,
  stream: StreamFromBucket,
  options: TreeOptions,
): TreeFiles {
  const { pageHeaders = {}, config } = options
  const headersOf = fileHeaders(options)
  const answerText = (path: string, bytes: Buffer, c: Context) =>
    answerHeld(path, { tag: tagOf(bytes), bytes, gzip: null }, headersOf, c.req)
  return {
    serve: async (pathname, c) => {
      const known = decodePath(pathname)
      if (known === null || known.endsWith('.crate')) return null
      if (known === configPath && config) return answerText(known, config, c)
      if (!isIndexFile(known)) return stream(c, () => find(shared, headersOf, pathname, c.req))
      const file = await readIndexFile(database, known)
      return file && answerText(known, Buffer.from(file.text), c)
    },
    missing: c =>
      stream(c, async () => {
        const found = await shared.read(notFoundPath)
        return found && notFound(c.req.method, found.bytes, pageHeaders)
      }),
  }
}

async function find(
  shared: SharedTree,
  headersOf: FileHeaders,
  pathname: string,
  request: HonoRequest,
): Promise<BucketStream | Response | null> {
  const known = decodePath(pathname) ?? ''
  const isFolder = known === '' || pathname.endsWith('/')
  const folder = known === '' ? '' : `${known}/`
  const path = isFolder ? `${folder}index.html` : known
  const facts = await shared.head(path)
  if (!facts) {
    if (isFolder || !(await shared.head(`${folder}index.html`))) return null
    return new Response(null, toFolder(pathname, request.url))
  }
  const tag = (facts.cksum ?? facts.etag.replace(/\W/g, '')).slice(0, 32)
  const whole: Part = { start: 0, end: facts.size - 1 }
  const { body, ...answer } = choose(variantOf(path, headersOf(path, tag), whole), tag, request)
  if (body === null) return new Response(null, answer)
  const found = await shared.open(path)
  // Written anew meanwhile: the length and the tag would be those of the file before.
  if (found && found.etag !== facts.etag) {
    found.bytes.destroy()
    return find(shared, headersOf, pathname, request)
  }
  return found && { bytes: found.bytes, size: found.size, answer }
}
