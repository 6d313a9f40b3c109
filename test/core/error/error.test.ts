import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '../../support/plimsoll.ts'

test('no code stands in two catalogues, where the later one would win unseen', async () => {
  const folder = join(root, 'dist', 'core', 'error', 'messages')
  const codes: string[] = []
  for (const file of readdirSync(folder).filter(name => name.endsWith('.js'))) {
    for (const catalogue of Object.values(await import(join(folder, file))))
      codes.push(...Object.keys(catalogue as object))
  }
  assert.ok(codes.length > 100, String(codes.length))
  assert.deepEqual(
    codes.filter((code, at) => codes.indexOf(code) !== at),
    [],
  )
})
