// What a file can do: read, seek, write and close.
// $ curl --form file=@README.md '/stamp/'
import { Hono } from 'hono'
import * as v from 'valibot'
import { complete, valid } from '../../valid/valid.ts'
import { UploadFile } from './upload-file.ts'

const PIECE = 64 * 1024
const toUpload = v.transform((file: File) => new UploadFile(file))
const Upload = v.object({ file: v.pipe(v.file(), toUpload) })

// A file has one position, which all methods move. Read in pieces, one of any size needs little
// memory. Nothing can be done with it after `close`.
export default new Hono().post('/stamp/', valid('form', Upload), complete, async c => {
  const { file: upload } = c.req.valid('form')
  const { size } = upload.file
  await upload.seek(size)
  await upload.write('\n-- received\n')
  await upload.seek(0)
  let lines = 0
  for (let piece = await upload.read(PIECE); piece.length > 0; piece = await upload.read(PIECE)) {
    lines += piece.filter(byte => byte === 0x0a).length
  }
  await upload.seek(size)
  const stamp = new TextDecoder().decode(await upload.read()).trim()
  await upload.close()
  return c.json({ type: upload.content_type, size, lines, stamp })
})
