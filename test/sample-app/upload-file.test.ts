import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UploadFile } from '../../sample-app/form/upload-file.ts'

async function filled(size: number): Promise<UploadFile> {
  const file = await UploadFile.create('a')
  await file.write(Buffer.alloc(size, 'x'))
  await file.seek(0)
  return file
}

for (const size of [10, 2_000_000]) {
  test(`${size} bytes: read takes at most what is asked for and what is there`, async () => {
    const file = await filled(size)
    assert.equal((await file.read(4)).toString(), 'xxxx')
    assert.equal((await file.read(0)).length, 0)
    assert.equal((await file.read(size)).length, size - 4)
    assert.equal((await file.read()).length, 0)
    await file.seek(size - 2)
    assert.equal((await file.read(-1)).toString(), 'xx')
    await file.seek(size + 5)
    assert.equal((await file.read()).length, 0)
    await file.close()
  })

  test(`${size} bytes: write overwrites at the position; a gap is zeros`, async () => {
    const file = await filled(size)
    await file.seek(2)
    await file.write(Buffer.from('ab'))
    assert.equal(file.size, size)
    await file.seek(size + 2)
    await file.write(Buffer.from('end'))
    assert.equal(file.size, size + 5)
    await file.seek(0)
    assert.equal((await file.read(5)).toString(), 'xxabx')
    await file.seek(size - 1)
    assert.equal((await file.read()).toString(), 'x\0\0end')
    await file.close()
  })

  test(`${size} bytes: a negative or broken position is an error and changes nothing`, async () => {
    const file = await filled(size)
    await file.seek(3)
    for (const offset of [-1, 0.5, Number.NaN]) await assert.rejects(file.seek(offset), RangeError)
    await assert.rejects(file.read(0.5), RangeError)
    assert.equal((await file.read()).length, size - 3)
    await file.close()
  })

  test(`${size} bytes: close may be called twice, nothing else after it`, async () => {
    const file = await filled(size)
    await file.close()
    await file.close()
    for (const use of [file.read(), file.write(Buffer.from('x')), file.seek(0)])
      await assert.rejects(use, /closed/)
  })
}

test('operations run in the order they were called', async () => {
  const file = await filled(10)
  await file.seek(0)
  const pieces = await Promise.all([
    file.write(Buffer.from('ab')),
    file.seek(0),
    file.read(1),
    file.read(1),
    file.read(1),
    file.close(),
  ])
  assert.deepEqual(pieces.slice(2, 5).map(String), ['a', 'b', 'x'])
})

test('what a read returned does not change with the file', async () => {
  const file = await filled(3)
  const bytes = await file.read()
  await file.seek(0)
  await file.write(Buffer.from('abc'))
  assert.equal(bytes.toString(), 'xxx')
})
