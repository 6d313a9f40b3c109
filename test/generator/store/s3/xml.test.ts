import assert from 'node:assert/strict'
import { test } from 'node:test'
import { childrenOf, childText, parseXml } from '../../../../generator/store/s3/xml.ts'

test('the answers of S3 are read: elements, entities, empty ones', () => {
  const root = parseXml(
    '<?xml version="1.0" encoding="UTF-8"?>\n<List xmlns="http://s3.example/"><Name/><Key>a &amp; &lt;b&gt; &#x41;&#66;</Key><One><Key>1</Key></One><One>\n  <Key>2</Key>\n</One></List>\n',
  )
  assert.equal(root?.name, 'List')
  assert.equal(childText(root, 'Key'), 'a & <b> AB')
  assert.equal(childText(root, 'Name'), '')
  assert.equal(childText(root, 'Absent'), '')
  assert.deepEqual(
    childrenOf(root, 'One').map(one => childText(one, 'Key')),
    ['1', '2'],
  )
})

test('anything else is refused', () => {
  const documents = [
    '',
    'text',
    '<a>',
    '</a>',
    '<a></b>',
    '<a/><b/>',
    '<a/>text',
    'text<a/>',
    '<a>&unknown;</a>',
    '<a>&</a>',
    '<a>&#0;</a>',
    '<a>&#x110000;</a>',
    '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
    '<a><!-- a comment --></a>',
    '<a><![CDATA[text]]></a>',
    '<a'.repeat(100_000),
    '<a>'.repeat(100_000),
  ]
  for (const text of documents) assert.equal(parseXml(text), null, text.slice(0, 50))
})
