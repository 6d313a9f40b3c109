// What a file can do: read, seek, write and close.
// $ curl --form file=@README.md '/stamp/'
import { Hono } from 'hono'
import { complete, valid } from '../../valid/valid.ts'
import { Upload } from './upload-file.ts'

const PIECE = 64 * 1024

// All methods move the one position of a file. Read in pieces, it needs little memory at any size.
export default new Hono().post('/stamp/', valid('form', Upload), complete, async c => {
  const { file } = c.req.valid('form')
  let [size, lines] = [0, 0]
  for (let piece = await file.read(PIECE); piece.length > 0; piece = await file.read(PIECE)) {
    size += piece.length
    lines += piece.filter(byte => byte === 0x0a).length
  }
  // The position is at the end now.
  await file.write('\n-- received\n')
  await file.seek(size)
  const stamp = new TextDecoder().decode(await file.read()).trim()
  await file.close()
  return c.json({ type: file.content_type, size, lines, stamp })
})
