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
      const decoded = decodePath(pathname)
      if (decoded === null || decoded.endsWith('.crate')) return null
      if (decoded === configPath && config) return answerText(decoded, config, c)
      if (!isIndexFile(decoded)) return stream(c, () => find(shared, headersOf, pathname, c.req))
      const file = await readIndexFile(database, decoded)
      return file && answerText(decoded, Buffer.from(file.text), c)
    },
    missing: c =>
      stream(c, async () => {
        const page = await shared.read(notFoundPath)
        return page && notFound(c.req.method, page.bytes, pageHeaders)
      }),
  }
}

async function find(
  shared: SharedTree,
  headersOf: FileHeaders,
  pathname: string,
  request: HonoRequest,
): Promise<BucketStream | Response | null> {
  const decoded = decodePath(pathname) ?? ''
  const isFolder = decoded === '' || pathname.endsWith('/')
  const folder = decoded === '' ? '' : `${decoded}/`
  const path = isFolder ? `${folder}index.html` : decoded
  const head = await shared.head(path)
  if (!head) {
    if (isFolder || !(await shared.head(`${folder}index.html`))) return null
    return new Response(null, toFolder(pathname, request.url))
  }
  const tag = (head.cksum ?? head.etag.replace(/\W/g, '')).slice(0, 32)
  const whole: Part = { start: 0, end: head.size - 1 }
  const { body, ...answer } = choose(variantOf(path, headersOf(path, tag), whole), tag, request)
  if (body === null) return new Response(null, answer)
  const file = await shared.open(path)
  // Written anew meanwhile: the length and the tag would be those of the file before.
  if (file && file.etag !== head.etag) {
    file.bytes.destroy()
    return find(shared, headersOf, pathname, request)
  }
  return file && { bytes: file.bytes, size: file.size, answer }
}
