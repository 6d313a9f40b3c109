import assert from 'node:assert/strict'
import { test } from 'node:test'
import app from './static-files.ts'

test('static-files: a file has its type, and may be kept', async () => {
  const response = await app.request('/static/style.css')
  assert.equal(await response.text(), 'body { color: teal }\n')
  assert.match(response.headers.get('Content-Type') ?? '', /^text\/css/)
  assert.equal(response.headers.get('Cache-Control'), 'public, max-age=600')
})

test('static-files: no other file', async () => {
  assert.equal((await app.request('/static/%2e%2e/package.json')).status, 404)
})
