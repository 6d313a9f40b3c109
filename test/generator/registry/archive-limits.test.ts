// Mirrors generator/registry/changes/check.ts: archiveLimits
// Mirrors generator/registry/changes/check.ts: limits of archives
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resolveSettings } from '../../../core/settings/settings.ts'
import { archiveLimits } from '../../../generator/sandbox/sandbox.ts'

const MIB = 1024 ** 2

test('a `.crate` may unpack to the limit, and beyond it only where the ratio is set', () => {
  const of = (text: string) =>
    archiveLimits(resolveSettings({ file: { name: 'x', text } }).settings, 50 * MIB).unpackedBytes
  assert.equal(of(''), 512 * MIB)
  assert.equal(of('[limits]\nunpacked_bytes = "1MiB"'), MIB)
  assert.equal(of('[limits]\nunpacked_ratio = 20'), 1000 * MIB)
})
