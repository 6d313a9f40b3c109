import assert from 'node:assert/strict'
import { test } from 'node:test'
import { imagePath } from '../../../core/paths/crates.ts'
import { isImagePath } from '../../../core/paths/images.ts'
import { checkImage } from '../../../generator/sandbox/image-task.ts'
import { png } from '../../support/png.ts'

const GIF = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')

test('images are known by their bytes, and named by their checksum', () => {
  const image = checkImage(png(7))
  assert.ok('name' in image && /^[0-9a-f]{64}\.png$/.test(image.name))
  assert.deepEqual([image.width, image.height], [8, 4])
  const gif = checkImage(GIF)
  assert.ok('name' in gif && gif.name.endsWith('.gif'))
  const svg = checkImage(Buffer.from('\ufeff<svg><script>x</script></svg>'))
  assert.ok('name' in svg && svg.name.endsWith('.svg'))
  assert.equal(Buffer.from(svg.bytes).toString(), '<svg xmlns="http://www.w3.org/2000/svg"></svg>')
})

test('everything else is refused with a reason', () => {
  const problem = (bytes: Uint8Array) => {
    const image = checkImage(bytes)
    return 'problem' in image ? image.problem : image.name
  }
  const many = png(1, [60_000, 60_000])
  assert.equal(problem(many), 'it has too many pixels')
  for (const text of ['', '<!doctype html><title>x</title>', 'GIF', '%PDF-1.4'])
    assert.equal(problem(Buffer.from(text)), 'it is not an image', text)
  assert.equal(problem(png(1).subarray(0, 12)), 'it is not an image')
  const bitmap = Buffer.concat([Buffer.from('BM'), Buffer.alloc(60, 1)])
  assert.equal(problem(bitmap), 'its type is not supported')
  const deep = Buffer.from(`<svg>${'<g/>'.repeat(60_000)}${'<g>'.repeat(600)}</svg>`)
  assert.equal(problem(deep), 'its elements are nested too deeply')
})

test('a path of an image is recognized, and no other', () => {
  const file = `${'ab'.repeat(32)}.png`
  assert.ok(isImagePath(imagePath('demo', '1.0.0+x', file)))
  const others = [`images/ab/${file}`, `crates/demo/images/${file}`]
  for (const path of [...others, 'crates/a/1.0.0/images/a.png'])
    assert.equal(isImagePath(path), false, path)
})
