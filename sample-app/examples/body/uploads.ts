import { Hono } from 'hono'
import { html } from 'hono/html'
import { NONCE, secureHeaders } from 'hono/secure-headers'
import * as v from 'valibot'
import { ask } from '../../ask/ask.ts'
import { UploadFile } from '../../form/upload-file.ts'
import { page } from '../../pages/pages.ts'

const [self, none] = [["'self'"], ["'none'"]]

/** A page loads nothing from elsewhere and may be framed by nobody. */
export const pageHeaders = secureHeaders({
  contentSecurityPolicy: {
    defaultSrc: none,
    styleSrc: [NONCE],
    scriptSrc: [NONCE],
    connectSrc: self,
    formAction: self,
    frameAncestors: none,
    baseUri: none,
  },
  strictTransportSecurity: false,
})

export const app = new Hono()

// `html` escapes what it interpolates.
const webPage = v.pipe(v.string(), v.metadata({ contentMediaType: 'text/html' }))

app.get('/', pageHeaders, ask({ answers: { 200: webPage } }), c => {
  const action = `${c.req.path}uploadfile/`
  const form = html`<form action="${action}" method="post" enctype="multipart/form-data">
<label>File <input name="file" type="file" required></label>
<p><button type="submit">Upload</button></p>
</form>`
  return page(c, 'Upload a file', form)
})

/** An uploaded file, which exists in multipart forms only, and its JSON Schema. */
const jsonSchema = { type: 'string', contentMediaType: 'application/octet-stream' }
export const file = v.pipe(v.instance(UploadFile), v.metadata(jsonSchema))

// A file of any size arrives as a stream, is on disk until the answer is out, and is gone then.
app.post('/uploadfile/', ask({ form: { file } }), c => {
  const { file } = c.var.form
  return c.json({ filenames: file.filename, type: file.constructor.name })
})

export const about = 'A file of any size in bounded memory, and a form to send it.'
export const request = '--form file=@README.md /uploadfile/'
