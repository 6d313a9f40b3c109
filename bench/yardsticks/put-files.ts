/**
 * Puts all files of a folder into a bucket, 32 at a time, with the headers that `deploy` gives them,
 * and does nothing else: no list, no comparison, no order, no second attempt.
 *
 *     node put-files.js DIR ENDPOINT PREFIX
 */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { publicFile } from '../../core/paths/tree.ts'
import { PutObjectCommand, S3Client } from '../../generator/places/s3/sdk.ts'
import { filesBelow } from '../../test/support/folder.ts'
import { KEYS } from '../../test/support/s3/signature.ts'

const AT_ONCE = 32

const [dir = '', endpoint = '', prefix = ''] = process.argv.slice(2)
const client = new S3Client({
  endpoint,
  region: 'eu-test-1',
  forcePathStyle: true,
  credentials: { accessKeyId: KEYS.id, secretAccessKey: KEYS.secret },
  requestChecksumCalculation: 'WHEN_REQUIRED',
  requestHandler: { httpAgent: { keepAlive: true, maxSockets: AT_ONCE } },
})
const files = filesBelow(dir)
let next = 0

async function putInTurn(): Promise<void> {
  for (let file = files[next++]; file !== undefined; file = files[next++])
    await put(file, await readFile(join(dir, file)))
}

async function put(file: string, body: Buffer): Promise<void> {
  const hash = createHash('sha256').update(body).digest('hex')
  const { contentType, cache } = publicFile(file)
  const command = new PutObjectCommand({
    Bucket: 'test',
    Key: `${prefix}/${file}`,
    Body: body,
    ContentType: contentType,
    CacheControl: cache === 'immutable' ? 'public, max-age=31536000, immutable' : 'no-cache',
    Metadata: { sha256: hash },
  })
  await client.send(command)
}

await Promise.all(Array.from({ length: AT_ONCE }, putInTurn))
client.destroy()
