import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isImagePath } from '../../../core/paths/images.ts'
import { checkImage } from '../../../generator/sandbox/image-task.ts'
import { png } from '../../support/image-server.ts'

const GIF = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')

test('images are known by their bytes, and named by their checksum', () => {
  const found = checkImage(png(7))
  assert.ok('path' in found && isImagePath(found.path) && found.path.endsWith('.png'))
  assert.deepEqual([found.width, found.height], [8, 4])
  const gif = checkImage(GIF)
  assert.ok('path' in gif && gif.path.endsWith('.gif'))
  const svg = checkImage(Buffer.from('\ufeff<svg><script>x</script></svg>'))
  assert.ok('path' in svg && svg.path.endsWith('.svg'))
  assert.equal(Buffer.from(svg.bytes).toString(), '<svg xmlns="http://www.w3.org/2000/svg"></svg>')
})

test('everything else is refused with a reason', () => {
  const problem = (bytes: Uint8Array) => {
    const found = checkImage(bytes)
    return 'problem' in found ? found.problem : found.path
  }
  const many = png(1, [60_000, 60_000])
  assert.equal(problem(many), 'it has too many pixels')
  for (const text of ['', '<!doctype html><title>x</title>', 'GIF', '%PDF-1.4'])
    assert.equal(problem(Buffer.from(text)), 'it is not an image', text)
  assert.equal(problem(png(1).subarray(0, 12)), 'it is not an image')
  assert.equal(
    problem(Buffer.concat([Buffer.from('BM'), Buffer.alloc(60, 1)])),
    'its type is not supported',
  )
  assert.equal(
    problem(Buffer.from(`<svg>${'<g/>'.repeat(300_000)}</svg>`)),
    'it has too many elements',
  )
})

test('a path of an image is recognized, and no other', () => {
  const sum = 'ab'.repeat(32)
  assert.ok(isImagePath(`images/ab/${sum}.png`))
  for (const path of [
    `images/cd/${sum}.png`,
    `images/ab/${sum}.exe`,
    `images/${sum}.png`,
    'images/ab/logo.png',
  ])
    assert.equal(isImagePath(path), false, path)
})
