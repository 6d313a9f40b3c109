import { createHash } from 'node:crypto'
import { Hono } from 'hono'
import * as v from 'valibot'
import { ask } from '../../ask/ask.ts'
import { file } from './uploads.ts'

const answers = { 200: v.object({ size: v.number(), sha256: v.string(), last: v.string() }) }

// A file has one position. `write` overwrites there, or appends at the end; `read` takes from there
// and is empty at the end; both move it. A file is closed when the answer is out; `close` frees it
// at once, and nothing can be done with it after that.
export const app = new Hono().post('/stamp/', ask({ form: { file }, answers }), async c => {
  const { file } = c.var.form
  await file.seek(file.size)
  await file.write(Buffer.from('\n-- received\n'))
  await file.seek(0)
  const hash = createHash('sha256')
  for (let piece = await file.read(65_536); piece.length > 0; piece = await file.read(65_536)) {
    hash.update(piece)
  }
  await file.seek(file.size - 9)
  const last = (await file.read()).toString().trim()
  await file.close()
  return c.json({ size: file.size, sha256: hash.digest('hex'), last })
})

export const about = 'What a file can do: read, seek, write and close.'
export const request = '--form file=@README.md /stamp/'
