/**
 * Puts all files of a folder into a bucket, 32 at a time, with the headers that `deploy` gives them,
 * and does nothing else: no list, no comparison, no order, no second attempt.
 *
 *     node put-files.js DIR ENDPOINT PREFIX
 */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { placeOf } from '../../core/paths/tree.ts'
import { headersOf } from '../../generator/store/s3/headers.ts'
import { encodePath, signedHeaders } from '../../generator/store/s3/sign.ts'
import { filesBelow } from '../../test/support/folder.ts'
import { KEYS } from '../../test/support/s3/signature.ts'

const AT_ONCE = 32

const [dir = '', endpoint = '', prefix = ''] = process.argv.slice(2)
const { hostname, port, host } = new URL(endpoint)
const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })
const credentials = { accessKeyId: KEYS.id, secretAccessKey: KEYS.secret }
const files = filesBelow(dir)
let next = 0

async function putInTurn(): Promise<void> {
  for (let file = files[next++]; file !== undefined; file = files[next++])
    await put(file, await readFile(join(dir, file)))
}

function put(file: string, body: Buffer): Promise<void> {
  const path = `/test/${encodePath(`${prefix}/${file}`)}`
  const hash = createHash('sha256').update(body).digest('hex')
  const headers = { ...headersOf(placeOf(file), 0), 'x-amz-meta-sha256': hash }
  const signed = signedHeaders({ method: 'PUT', host, path, query: {}, headers }, hash, {
    credentials,
    region: 'eu-test-1',
    now: new Date(),
  })
  const all = { ...signed, 'content-length': body.byteLength }
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, agent, method: 'PUT', path, headers: all }, answer => {
      answer.resume()
      if (answer.statusCode === 200) answer.once('end', resolve)
      else reject(new Error(`${path}: ${answer.statusCode}`))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

await Promise.all(Array.from({ length: AT_ONCE }, putInTurn))
agent.destroy()
