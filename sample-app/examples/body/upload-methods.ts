import { createHash } from 'node:crypto'
import { Hono } from 'hono'
import * as v from 'valibot'
import { ask } from '../../ask/ask.ts'
import { file } from './uploads.ts'

export const app = new Hono()

const PIECE = 64 * 1024

const Summary = v.pipe(
  v.object({
    filename: v.string(),
    content_type: v.nullable(v.string()),
    size: v.number(),
    sha256: v.string(),
    first_line: v.string(),
  }),
  v.title('Summary'),
)

// A file has one position. `read` takes from there and moves it, and is empty at the end.
app.post('/summary/', ask({ form: { file }, answers: { 200: Summary } }), async c => {
  const { file } = c.var.form
  const hash = createHash('sha256')
  for (let piece = await file.read(PIECE); piece.length > 0; piece = await file.read(PIECE)) {
    hash.update(piece)
  }
  await file.seek(0)
  const [first_line = ''] = (await file.read(200)).toString().split('\n')
  const { filename, content_type, size } = file
  return c.json({ filename, content_type, size, sha256: hash.digest('hex'), first_line })
})

// `write` overwrites at the position, or appends at the end. Each upload is closed when the answer
// is out; `close` frees it at once, and nothing can be done with it after that.
app.post('/stamp/', ask({ form: { file } }), async c => {
  const { file } = c.var.form
  await file.seek(file.size)
  await file.write(Buffer.from('\n-- received\n'))
  await file.seek(0)
  const content = await file.read()
  await file.close()
  return c.body(new Uint8Array(content), 200, { 'Content-Type': 'application/octet-stream' })
})

export const about = [
  'upload-methods',
  'What a file can do: read, seek, write and close.',
  '--form file=@README.md /summary/',
]
