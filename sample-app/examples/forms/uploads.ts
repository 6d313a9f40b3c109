// A file, and a form to send it.
// $ curl --form file=@README.md '/uploadfile/'
import { Hono } from 'hono'
import { html } from 'hono/html'
import * as v from 'valibot'
import { documented } from '../../valid/documented.ts'
import { complete, valid } from '../../valid/valid.ts'
import { UploadFile } from './upload-file.ts'

// A file comes in a multipart form. `v.file()` is the one of Fetch, which all runtimes have; a step
// of the pipe makes it one that can be read and written piece by piece.
const toUpload = v.transform((file: File) => new UploadFile(file))
const Upload = v.object({ file: v.pipe(v.file(), toUpload) })
const webPage = v.pipe(v.string(), v.metadata({ contentMediaType: 'text/html' }))

export default new Hono()
  // `html` escapes what it interpolates.
  .get('/', documented({ answers: { 200: webPage } }), c => {
    return c.html(html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Upload a file</title>
<form action="${c.req.path}uploadfile/" method="post" enctype="multipart/form-data">
<label>File <input name="file" type="file" required></label>
<button type="submit">Upload</button>
</form>
</html>`)
  })
  // Alone, an app takes 1 MiB. The server of these examples streams files of any size to disk.
  .post('/uploadfile/', valid('form', Upload), complete, c => {
    const { file } = c.req.valid('form')
    return c.json({ filenames: file.filename, type: file.constructor.name })
  })
