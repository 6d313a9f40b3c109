import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClient } from 'hono/testing'
import { slashed } from '../slashed.ts'
import app from './upload-methods.ts'

test('upload-methods: a file is read in pieces, sought and written', async () => {
  const form = { file: new File(['first\n', 'x'.repeat(200_000)], 'a', { type: 'text/plain' }) }
  const response = await testClient(slashed(app)).stamp.index.$post({ form })
  const expected = { type: 'text/plain', size: 200_006, lines: 1, stamp: '-- received' }
  assert.deepEqual(await response.json(), expected)
})
