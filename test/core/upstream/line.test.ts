import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isSameButYanked, parseLine, readLine, withYanked } from '../../../core/upstream/line.ts'

const CKSUM = 'a'.repeat(64)
const rest = `"cksum":"${CKSUM}","features":{"yanked":["a"],"a":[]},"name":"foo","vers":"1.0.0"`

test('a line is read as Cargo reads it; what Cargo cannot use is none', () => {
  const text = `{"deps":[],${rest},"yanked":false,"pubtime":"2026-01-02T03:04:05Z"}`
  const line = parseLine(text)
  assert.deepEqual(line, {
    text,
    name: 'foo',
    version: '1.0.0',
    cksum: CKSUM,
    yanked: false,
    pubtime: '2026-01-02T03:04:05Z',
  })
  assert.deepEqual(readLine(text), line)
  for (const wrong of [
    '',
    '<html>',
    '{}',
    text.replace('1.0.0', '1.0'),
    text.replace('{', '{"name":"foo",'),
  ])
    assert.equal(parseLine(wrong), null, wrong)
})

test('only the value of `yanked` changes, wherever it is, and only at the top', () => {
  const inner =
    '"deps":[{"name":"b","req":"1","features":[],"optional":false,"default_features":true,"target":null,"kind":"normal","yanked":false}]'
  const rows: [before: string, after: string][] = [
    [`{ "yanked" : false , ${inner},${rest}}`, `{ "yanked" : true , ${inner},${rest}}`],
    [`{${inner},${rest},"yanked":null}`, `{${inner},${rest},"yanked":true}`],
    [`{${inner},${rest}}`, `{"yanked":true,${inner},${rest}}`],
  ]
  for (const [before, after] of rows) {
    const line = parseLine(before) ?? assert.fail(before)
    const yanked = withYanked(line, true)
    assert.equal(yanked.text, after)
    assert.equal(parseLine(after)?.yanked, true)
    assert.equal(withYanked(line, false), line)
    assert.ok(isSameButYanked(line, yanked))
  }
  const [first, other] = ['1', '2'].map(v => parseLine(`{"deps":[],${rest},"v":${v}}`))
  assert.ok(first && other && !isSameButYanked(first, other))
})
