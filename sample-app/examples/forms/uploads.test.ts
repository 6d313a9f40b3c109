import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClient } from 'hono/testing'
import { slashed } from '../slashed.ts'
import app from './uploads.ts'

test('uploads: a file is named', async () => {
  const form = { file: new File(['data'], 'a.txt') }
  const response = await testClient(slashed(app)).uploadfile.index.$post({ form })
  assert.deepEqual(await response.json(), { filenames: 'a.txt', type: 'UploadFile' })
})

test('uploads: a text is no file, and alone the app takes 1 MiB', async () => {
  const send = (body: FormData) => app.request('/uploadfile/', { method: 'POST', body })
  const form = new FormData()
  form.set('file', 'text')
  assert.match(await (await send(form)).text(), /Expected UploadFile/)
  form.set('file', new File(['x'.repeat(1024 * 1024)], 'a.txt'))
  assert.equal((await send(form)).status, 413)
})
