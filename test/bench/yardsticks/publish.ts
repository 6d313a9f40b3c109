/**
 * The least cost of a durable publish in Node: parses the frame, writes the `.crate`, its folder
 * and a line of a log with a sync each, then the index file, and answers. Checks nothing, and
 * requests share nothing. `node publish.js FOLDER`.
 */
import { createHash } from 'node:crypto'
import { mkdir, open, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { answerPublishes, storeCrate } from './publish-server.ts'

const [folder = ''] = process.argv.slice(2)
await mkdir(join(folder, 'index'), { recursive: true })
const log = await open(join(folder, 'log'), 'a')
let files = 0

answerPublishes(async ({ name, vers, crate }) => {
  const cksum = createHash('sha256').update(crate).digest('hex')
  await storeCrate(folder, name, vers, crate)
  const line = `${JSON.stringify({ name, vers, deps: [], cksum, features: {}, yanked: false })}\n`
  await log.appendFile(line)
  await log.datasync()
  const index = join(folder, 'index', name)
  const before = await readFile(index).catch(() => Buffer.alloc(0))
  const next = `${index}.${files++}`
  await writeFile(next, Buffer.concat([before, Buffer.from(line)]))
  await rename(next, index)
})
