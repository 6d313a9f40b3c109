import { mkdir, open, rename } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'

/** A publish request, parsed (specification A, "Publish"). */
export interface PublishRequest {
  readonly name: string
  readonly vers: string
  readonly crate: Buffer
  readonly authorization: string
}

/** Answers every request on a free port, and says where, once `publish` is done with its frame. */
export function answerPublishes(publish: (request: PublishRequest) => Promise<void>): void {
  const server = createServer(async (request, response) => {
    const body = await buffer(request)
    const length = body.readUInt32LE(0)
    const { name, vers } = JSON.parse(body.toString('utf8', 4, 4 + length))
    const crate = body.subarray(8 + length, 8 + length + body.readUInt32LE(4 + length))
    await publish({ name, vers, crate, authorization: request.headers.authorization ?? '' })
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"warnings":{}}')
  })
  server.listen(0, '127.0.0.1', () => {
    console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  })
}

let files = 0

/** Writes a `.crate` and its name to disk, with a sync each. */
export async function storeCrate(
  folder: string,
  name: string,
  version: string,
  crate: Buffer,
): Promise<void> {
  const home = join(folder, 'crates', name)
  await mkdir(home, { recursive: true })
  const temporary = join(folder, `${files++}.crate.tmp`)
  const file = await open(temporary, 'w')
  await file.writeFile(crate)
  await file.sync()
  await file.close()
  await rename(temporary, join(home, `${version}.crate`))
  const directory = await open(home)
  await directory.sync()
  await directory.close()
}
