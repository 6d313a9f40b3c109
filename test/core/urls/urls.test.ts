import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CRATES_IO, isIndexUrl } from '../../../core/index-url.ts'

test('the URL of an index is one that Cargo can read, with and without its prefix', () => {
  for (const url of [
    CRATES_IO,
    'registry+https://github.com/rust-lang/crates.io-index',
    'sparse+https://x.example/index/',
    'sparse+http://127.0.0.1:8080/a%20b/',
    'ssh://git@x.example:22/index.git',
    'git+ssh://x.example/index',
    'file:///srv/index',
    'https://x.example',
  ])
    assert.ok(isIndexUrl(url), url)
  for (const url of [
    ...['', 'mine', 'mailto:a@x.example', 'git@x.example:index', 'https://x.example/a b'],
    ...['http://[', 'http://x.example:99999/', 'sparse+http://a%20b/', 'SPARSE+http://a%20b/'],
    ...['registry+http://a%20b/', 'sparse+http:///'],
  ])
    assert.ok(!isIndexUrl(url), url)
})
