import assert from 'node:assert/strict'
import { test } from 'node:test'
import app from './path-converter.ts'

const table = { '/file/a/b.txt': 'a/b.txt', '/file/': '', '/file//a%20b/': '/a b/' }
for (const [path, file_path] of Object.entries(table)) {
  test(`path-converter: ${path}`, async () => {
    assert.deepEqual(await (await app.request(path)).json(), { file_path })
  })
}

test('path-converter: a line break is no path', async () => {
  assert.equal((await app.request('/file/a%0Ab')).status, 404)
})
