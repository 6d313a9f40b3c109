// A file, and a form to send it.
// $ curl --form file=@README.md '/uploadfile/'
import { Hono } from 'hono'
import { html } from 'hono/html'
import { complete, valid } from '../../valid/valid.ts'
import { Upload } from './upload-file.ts'

export const documents = { 'GET /': { answers: { 200: 'text/html' } } }

export default new Hono()
  // `html` escapes what it interpolates.
  .get('/', c => {
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
