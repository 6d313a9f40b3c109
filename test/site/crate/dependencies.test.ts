import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CRATES_IO } from '../../../core/index-url.ts'
import { cratePage } from '../../../site/crate/page.ts'
import { crate, demoConfig, version } from '../../support/demo-config.ts'

const site = demoConfig('https://x.example')

test('documentation of libraries that name none: docs.rs for copies of crates.io, or a setting', () => {
  const link = (more: Parameters<typeof version>[0], docs: string | null = null) =>
    /href="([^"]*)"[^>]*>Documentation/.exec(
      cratePage({ ...site, docs }, crate(version(more))).bytes.toString(),
    )?.[1] ?? null
  assert.equal(link({}), null)
  assert.equal(link({ origin: CRATES_IO }), 'https://docs.rs/keel/1.4.0')
  assert.equal(link({ origin: CRATES_IO, has_lib: false }), null)
  assert.equal(
    link({ origin: CRATES_IO, documentation: 'https://d.example/' }),
    'https://d.example/',
  )
  assert.equal(link({ origin: 'https://other.example/index' }), null)
  assert.equal(
    link({ version: '1.0.0+b' }, 'https://d.example/{crate}/{version}'),
    'https://d.example/keel/1.0.0%2Bb',
  )
})
