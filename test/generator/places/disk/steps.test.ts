import assert from 'node:assert/strict'
import fs, {
  closeSync,
  existsSync,
  fstatSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { steps } from '../../../../generator/places/disk/steps.ts'
import { folderOf } from '../../../support/workplace.ts'

test('a place that takes no folders is refused at once', {
  skip: !existsSync('/proc/self'),
}, () => {
  const path = '/proc/nope/folder/file'
  assert.throws(() => steps.write(path, Buffer.from('x')), { code: 'ENOENT' })
  assert.throws(() => steps.writeAll([], ['/proc/nope/folder']), { code: 'ENOENT' })
})

test('create refuses a file that is there, keep makes the folder, open skips what is missing', t => {
  const folder = folderOf(t)
  const [from, to] = [join(folder, 'in', 'x'), join(folder, 'kept', 'x')]
  const file = steps.create(from, Buffer.from('x'), 0o444)
  assert.equal(fstatSync(file).size, 1)
  assert.throws(() => steps.create(from, Buffer.from('y'), 0o444), { code: 'EEXIST' })
  const opened = steps.keep(from, to, [join(folder, 'kept'), folder])
  assert.equal(opened.length, 3)
  assert.deepEqual(steps.open([join(folder, 'none'), join(to, 'below')], 'r'), [])
  assert.equal(readFileSync(to, 'utf8'), 'x')
  for (const descriptor of [file, ...opened]) closeSync(descriptor)
})

test('linkOver makes one file of two names, also over another file and over itself', t => {
  const folder = folderOf(t)
  const [source, path] = [join(folder, 'source'), join(folder, 'shown', 'path')]
  writeFileSync(source, 'x')
  assert.equal(steps.linkNew(source, path), true)
  assert.equal(steps.linkNew(source, path), false)
  assert.equal(steps.linkOver(source, path), true)
  assert.equal(steps.isSameFile(source, path), true)
  writeFileSync(join(folder, 'other'), 'y')
  assert.equal(steps.linkOver(join(folder, 'other'), path), true)
  assert.equal(readFileSync(path, 'utf8'), 'y')
  assert.deepEqual(readdirSync(join(folder, 'shown')), ['path'])
})

test('linkNew says when the file system cannot link', t => {
  const folder = folderOf(t)
  writeFileSync(join(folder, 'source'), 'x')
  const { linkSync: link } = fs
  const restore = () => {
    fs.linkSync = link
    syncBuiltinESMExports()
  }
  t.after(restore)
  for (const code of ['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP', 'ENOSYS']) {
    fs.linkSync = () => {
      throw Object.assign(new Error(code), { code })
    }
    syncBuiltinESMExports()
    assert.equal(steps.linkNew(join(folder, 'source'), join(folder, 'path')), false)
  }
  assert.deepEqual(readdirSync(folder), ['source'])
})
