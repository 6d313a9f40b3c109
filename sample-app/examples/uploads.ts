import { html } from 'hono/html'
import { App } from '../app.ts'
import { page } from '../docs/page.ts'
import { file } from '../input/file.ts'
import { form } from '../input/parameter.ts'

/** A file from a form, received as a stream: small ones stay in memory, large ones wait on disk until the answer is out. */
export function uploads(): App {
  const app = new App('File upload')
  app.get('/', {}, (_, context) => page(context, 'Upload a file', uploadForm(context.env?.base ?? '')), 'text/html')
  app.post('/uploadfile/', { file: form(file) }, ({ file }) => ({
    filenames: file.filename,
    type: file.constructor.name,
  }))
  return app
}

function uploadForm(base: string) {
  return html`<h1>Upload a file</h1>
<form action="${base}/uploadfile/" method="post" enctype="multipart/form-data">
<p><label>File <input name="file" type="file" required></label></p>
<p><button type="submit">Upload</button></p>
</form>`
}
