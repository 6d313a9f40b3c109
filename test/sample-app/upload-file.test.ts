import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UploadFile } from '../../sample-app/examples/forms/upload-file.ts'

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

function filled(size: number): UploadFile {
  return new UploadFile(new File(['x'.repeat(size)], 'a'))
}

for (const size of [10, 2_000_000]) {
  test(`${size} bytes: read takes at most what is asked for and what is there`, async () => {
    const file = filled(size)
    assert.equal(text(await file.read(4)), 'xxxx')
    assert.equal((await file.read(0)).length, 0)
    assert.equal((await file.read(size)).length, size - 4)
    assert.equal((await file.read()).length, 0)
    await file.seek(size - 2)
    assert.equal(text(await file.read(-1)), 'xx')
    await file.seek(size + 5)
    assert.equal((await file.read()).length, 0)
    await file.close()
  })

  test(`${size} bytes: write overwrites at the position; a gap is zeros`, async () => {
    const file = filled(size)
    await file.seek(2)
    await file.write(Buffer.from('ab'))
    await file.seek(size + 2)
    await file.write(Buffer.from('end'))
    await file.seek(0)
    assert.equal(text(await file.read(5)), 'xxabx')
    await file.seek(size - 1)
    assert.equal(text(await file.read()), 'x\0\0end')
    await file.close()
  })

  test(`${size} bytes: a negative or broken position is an error and changes nothing`, async () => {
    const file = filled(size)
    await file.seek(3)
    for (const offset of [-1, 0.5, Number.NaN]) await assert.rejects(file.seek(offset), RangeError)
    assert.equal((await file.read()).length, size - 3)
    await file.close()
  })

  test(`${size} bytes: close may be called twice, nothing else after it`, async () => {
    const file = filled(size)
    await file.close()
    await file.close()
    for (const use of [file.read(), file.write(Buffer.from('x')), file.seek(0)])
      await assert.rejects(use, /closed/)
  })
}

test('it has the parts and methods of the specification', async () => {
  const file = new UploadFile(new File(['abc'], 'a.txt', { type: 'text/plain' }))
  assert.deepEqual([file.filename, file.content_type], ['a.txt', 'text/plain'])
  void file.file.write('x')
  assert.equal(text(await file.file.read()), 'bc')
})

test('what a read returned does not change with the file', async () => {
  const file = filled(3)
  const bytes = await file.read()
  await file.seek(0)
  await file.write(Buffer.from('abc'))
  assert.equal(text(bytes), 'xxx')
})
