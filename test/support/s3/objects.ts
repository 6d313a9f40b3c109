import { createHash } from 'node:crypto'

/** An object of the in-process S3. */
export interface StoredObject {
  readonly bytes: Buffer
  /** With its quotes. */
  readonly etag: string
  readonly headers: Readonly<Record<string, string>>
}

/** The headers that S3 keeps with an object. */
export const KEPT = /^(?:content-type|cache-control|content-encoding|x-amz-meta-.+)$/

/** Creates an object. */
export function objectOf(bytes: Buffer, headers: Readonly<Record<string, string>>): StoredObject {
  const etag = `"${createHash('md5').update(bytes).digest('hex')}"`
  return { bytes, etag, headers }
}

/** Returns a page of a list in the form of `ListObjectsV2`. */
export function listPage(
  objects: ReadonlyMap<string, StoredObject>,
  prefix: string,
  after: string,
  most: number,
  delimiter: string | null = null,
): string {
  const isFlat = (key: string) =>
    delimiter === null || !key.slice(prefix.length).includes(delimiter)
  const keys = [...objects.keys()]
    .filter(key => key.startsWith(prefix) && key > after && isFlat(key))
    .sort()
  const shown = keys.slice(0, most)
  const isMore = keys.length > shown.length
  const rows = shown.map(key => {
    const { bytes, etag } = objects.get(key) as StoredObject
    return `<Contents><Key>${xmlText(key)}</Key><ETag>${xmlText(etag)}</ETag><Size>${bytes.length}</Size></Contents>`
  })
  const next = isMore
    ? `<NextContinuationToken>${xmlText(shown.at(-1) ?? '')}</NextContinuationToken>`
    : ''
  return `<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>test</Name><EncodingType/>${rows.join('')}${next}<IsTruncated>${isMore}</IsTruncated></ListBucketResult>`
}

/** Escapes text for XML. */
export function xmlText(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/"/g, '&quot;')
}
