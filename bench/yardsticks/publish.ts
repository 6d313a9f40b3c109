/**
 * What a durable publish costs at least in Node: checks the frame, writes the `.crate`, its folder
 * and a line of a log with a sync each, then the index file, and answers. Nothing is checked,
 * nothing is shared between requests. `node publish.js FOLDER`.
 */
import { createHash } from 'node:crypto'
import { mkdir, open, readFile, rename, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'

const [folder = ''] = process.argv.slice(2)
await mkdir(join(folder, 'index'), { recursive: true })
const log = await open(join(folder, 'log'), 'a')
let files = 0

async function publish(body: Buffer): Promise<void> {
  const length = body.readUInt32LE(0)
  const { name, vers } = JSON.parse(body.toString('utf8', 4, 4 + length))
  const crate = body.subarray(8 + length, 8 + length + body.readUInt32LE(4 + length))
  const cksum = createHash('sha256').update(crate).digest('hex')
  const home = join(folder, 'crates', name)
  await mkdir(home, { recursive: true })
  const temporary = join(folder, `${files++}.tmp`)
  const file = await open(temporary, 'w')
  await file.writeFile(crate)
  await file.sync()
  await file.close()
  await rename(temporary, join(home, `${vers}.crate`))
  const directory = await open(home)
  await directory.sync()
  await directory.close()
  const line = `${JSON.stringify({ name, vers, deps: [], cksum, features: {}, yanked: false })}\n`
  await log.appendFile(line)
  await log.datasync()
  const index = join(folder, 'index', name)
  const before = await readFile(index).catch(() => Buffer.alloc(0))
  const next = `${index}.${files++}`
  await writeFile(next, Buffer.concat([before, Buffer.from(line)]))
  await rename(next, index)
}

const server = createServer(async (request, response) => {
  await publish(await buffer(request))
  response.writeHead(200, { 'content-type': 'application/json' }).end('{"warnings":{}}')
})
server.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
