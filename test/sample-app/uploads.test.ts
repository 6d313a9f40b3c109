import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BOUNDARY, MULTIPART, multipart, type Part, URLENCODED } from './support/forms.ts'
import { missing, refused } from './support/refused.ts'
import { answering, ask } from './support/serving.ts'

const gives = answering('uploads')
const MISSING = missing(['body', 'file'])
const noFile = (input: string) => {
  const msg = "Value error, Expected UploadFile, received: <class 'str'>"
  return refused('value_error', ['body', 'file'], msg, input, { error: {} })
}
const INVALID = { detail: 'Invalid multipart data.' }

function post(body: string | Uint8Array, headers: Record<string, string> = MULTIPART) {
  return { method: 'POST', path: '/uploadfile/', headers, body }
}

/** A body of one part with these header lines. */
function part(...lines: string[]) {
  return post(`--${BOUNDARY}\r\n${lines.join('\r\n')}\r\n\r\ndata\r\n--${BOUNDARY}--\r\n`)
}

async function named(disposition: string, filenames: string): Promise<void> {
  await gives(part(`Content-Disposition: ${disposition}`), 200, { filenames, type: 'UploadFile' })
}

test('a name is echoed as it was sent', async () => {
  await named('form-data; name="file"; filename="../../x"', '../../x')
  await named('form-data; name="file"; filename=""', '')
  await named('form-data; name="file"; filename="né你.txt"', 'né你.txt')
  await named('form-data; name="file"; filename="a%22b%0A.txt"', 'a%22b%0A.txt')
  await named(String.raw`form-data; name="file"; filename="a\"b\\c;d=e"`, 'a"b\\c;d=e')
  await named('form-data; name="file"; filename="<script>"', '<script>')
  await named('form-data; name=file; filename=a.txt', 'a.txt')
  await named('form-data ;NAME="file" ; FileName="a.txt"', 'a.txt')
  await named('form-data; filename="a"; name="file"; filename="b"', 'b')
  await named(`form-data; name="file"; filename="a.txt"; filename*=UTF-8''b.txt`, 'a.txt')
})

test('of a path from Windows the last name is told, as FastAPI does', async () => {
  await named(String.raw`form-data; name="file"; filename="C:\x\y.txt"`, 'y.txt')
  await named(String.raw`form-data; name="file"; filename="\\\\server\x\y.txt"`, 'y.txt')
  await named(String.raw`form-data; name="file"; filename="x\y.txt"`, String.raw`x\y.txt`)
})

test('a name that is written badly is echoed all the same', async () => {
  await named('form-data; name="file"; filename', '')
  await named('form-data; name="file"; filename ; x', '')
  await named('form-data; name="file"; filename="a b.txt', '"a b.txt')
  await named('form-data; name="file"; filename=a"b.txt', 'a"b.txt')
})

test('a part without filename is text, also with filename*', async () => {
  for (const more of ['', `; filename*=UTF-8''a.txt`])
    await gives(part(`Content-Disposition: form-data; name="file"${more}`), 422, noFile('data'))
})

test('the last part of the name wins, whatever it is', async () => {
  const files: Part[] = [
    { name: 'file', filename: 'a', content: '1' },
    { name: 'file', filename: 'b', content: '2' },
  ]
  await gives(post(multipart(files)), 200, { filenames: 'b', type: 'UploadFile' })
  const text = await ask('uploads', post(multipart([...files, { name: 'file', value: 'x' }])))
  assert.equal(text.status, 422)
})

test('no form, another name, and a cut-off file are missing files', async () => {
  await gives(post(''), 422, MISSING)
  await gives(post('{}', { 'Content-Type': 'application/json' }), 422, MISSING)
  await gives(post('file=a', URLENCODED), 422, noFile('a'))
  await gives(post(multipart([{ name: 'File', filename: 'a', content: '' }])), 422, MISSING)
  const whole = multipart([{ name: 'file', filename: 'a', content: 'data' }])
  for (const cut of [1, 30, 60, 100, whole.length - 5])
    await gives(post(whole.slice(0, cut)), 422, MISSING)
})

test('no boundary is 400, with a body and without', async () => {
  const expected = { detail: 'Missing boundary in multipart.' }
  for (const type of [
    'multipart/form-data',
    'multipart/form-data; boundary=',
    'Multipart/Form-Data; charset=utf-8',
  ]) {
    await gives(post('', { 'Content-Type': type }), 400, expected)
    await gives(post('x', { 'Content-Type': type }), 400, expected)
  }
})

test('broken data is 400', async () => {
  const bodies = [
    'garbage',
    `preamble\r\n--${BOUNDARY}--`,
    `--${BOUNDARY}x\r\n`,
    `--${BOUNDARY}\r\nno colon\r\n\r\n`,
    `--${BOUNDARY}\r\n: empty\r\n\r\n`,
    `--${BOUNDARY}\r\nA: b\nC: d\r\n\r\n`,
    `--${BOUNDARY}\r\nA: b\r\n folded\r\n\r\n`,
    `--${BOUNDARY}\r\nA: ${'x'.repeat(20_000)}`,
  ]
  for (const body of bodies) await gives(post(body), 400, INVALID)
})

test('a part without a name is 400', async () => {
  const expected = { detail: 'The Content-Disposition header field "name" must be provided.' }
  for (const line of [
    'Content-Disposition: form-data',
    'Content-Disposition: form-data; filename="a"',
    'A: b',
    'Content-Disposition: form-data; names="file"',
  ]) {
    await gives(part(line), 400, expected)
  }
  await gives(post(`--${BOUNDARY}\r\n\r\ndata\r\n--${BOUNDARY}--`), 400, expected)
})

test('a quoted boundary, line breaks in front, data behind the end, an empty file', async () => {
  const body = multipart([{ name: 'file', filename: 'a', content: '' }])
  const ok = { filenames: 'a', type: 'UploadFile' }
  const quoted = { 'Content-Type': `multipart/form-data; boundary="${BOUNDARY}"` }
  await gives(post(body, quoted), 200, ok)
  await gives(post(`\r\n\r\n${body}epilogue`), 200, ok)
})

test('more than 1000 files are 400', async () => {
  const files = (count: number) =>
    multipart(Array.from({ length: count }, () => ({ name: 'file', filename: 'a', content: 'x' })))
  await gives(post(files(1000)), 200, { filenames: 'a', type: 'UploadFile' })
  await gives(post(files(1001)), 400, {
    detail: 'Too many files. Maximum number of files is 1000.',
  })
})

test('a media type is what the client says, or null', async () => {
  const stamp = (part: Part) =>
    ask('upload-methods', { ...post(multipart([part])), path: '/stamp/' })
  const typed = await stamp({
    name: 'file',
    filename: 'a',
    contentType: 'text/x-test; a=b',
    content: 'in\r\n--side',
  })
  const expected = { type: 'text/x-test; a=b', size: 10, lines: 1, stamp: '-- received' }
  assert.deepEqual(JSON.parse(typed.text), expected)
  const plain = await stamp({ name: 'file', filename: 'a', content: '' })
  assert.equal(JSON.parse(plain.text).type, null)
})
