// Mirrors site/crate/: what authors may make very long
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changesPage } from '../../site/crate/changes.ts'
import { cratePage, versionPage } from '../../site/crate/page.ts'
import { versionsPage } from '../../site/crate/versions.ts'
import { crate, demoConfig, version } from '../support/demo-config.ts'
import { dependency } from '../support/release.ts'

/** A word for which browsers take seconds: they look up where its parts end. */
const LONG = 'ก'.repeat(20_000)
const JOB = { kind: 'other', issuer: 'https://ci.example', run: null } as const
const site = demoConfig('https://x.example')

test('no page of a crate shows a long value in full', () => {
  const [name, req] = [`n${LONG}`, `^1.0.0-${LONG}`]
  const more = { package: `p${LONG}`, features: [LONG] }
  const here = dependency(name, req, { ...more, target: `cfg(a = "${LONG}")` })
  const there = dependency(name, req, { ...more, registry: LONG })
  const long = {
    ...{ edition: LONG, links: LONG, license: LONG, bin_names: [LONG] },
    publishedBy: null,
    job: { ...JOB, repository: null, subject: LONG, commit: LONG },
    deps: [here, there],
    features: { [LONG]: [LONG], b: [`${LONG}x`] },
  }
  const newest = version({ ...long, previous: version({ version: '1.0.0' }) })
  const after = version({ ...long, version: '2.0.0', links: `${LONG}x`, edition: `${LONG}x` })
  const gone = version({ version: '3.0.0', license: null, license_file: LONG })
  const data = crate(newest, { versions: [after, newest, gone], versionCount: 3 })
  const pages = [
    cratePage(site, data),
    versionPage(site, gone),
    versionsPage(site, data),
    changesPage(site, after, newest),
    changesPage(site, gone, newest),
  ]
  for (const { path, bytes } of pages) {
    const body = bytes.toString().replace(/^.*<body>/s, '')
    const words = body.replace(/<[^>]*>/g, ' ').split(/\s+/)
    const longest = Math.max(...words.map(word => word.length))
    assert.ok(longest > 60 && longest <= 510, `${path}: ${longest}`)
  }
})
