// Mirrors generator/static/build.ts: pages
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { resolveSettings } from '../../../core/settings/settings.ts'
import { registryUrls } from '../../../core/urls/urls.ts'
import { buildStatic } from '../../../generator/static/build.ts'
import { BASE, ownDependency } from '../../support/release.ts'
import { folderOf } from '../../support/workplace.ts'
import { writeCrate } from '../../support/write-crate.ts'

test('a static tree has the crate.json of every crate, of equal bytes each time, and no feeds', async t => {
  const folder = folderOf(t)
  const from = join(folder, 'from')
  const put = (name: string, version: string, manifest = '') =>
    writeCrate(join(from, `${name}-${version}.crate`), { name, version, manifest })
  put('base', '1.0.0')
  put('base', '1.10.0')
  put('base', '1.9.0')
  put('top', '1.0.0', ownDependency('base').manifest)
  put('older', '0.1.0', ownDependency('base').manifest)
  put('older', '0.2.0')
  put('yanked-top', '1.0.0', ownDependency('base').manifest)
  const { settings } = resolveSettings({
    file: { name: 'plimsoll.toml', text: 'yanked = ["base@1.10.0", "yanked-top@1.0.0"]' },
    env: { PLIMSOLL_REGISTRY_BASE_URL: BASE },
  })
  const urls = registryUrls({ ...settings.registry, api: 'none' }, BASE)
  const out = join(folder, 'out')
  const job = { from, out, settings, urls, cache: null }
  await buildStatic(job)
  const { versions, ...head } = JSON.parse(
    readFileSync(join(out, 'crates/base/crate.json'), 'utf8'),
  )
  assert.deepEqual(
    [head.newest_version, head.dependents, head.created_at, head.updated_at, head.yanked],
    ['1.9.0', 1, null, null, false],
  )
  assert.deepEqual(
    versions.map((version: Record<string, unknown>) => [
      version.version,
      version.published_at,
      version.published_by,
    ]),
    [
      ['1.10.0', null, null],
      ['1.9.0', null, null],
      ['1.0.0', null, null],
    ],
  )
  assert.equal(versions[0].entry.yanked, true)
  const page = (path: string) => readFileSync(join(out, 'crates/base', path, 'index.html'), 'utf8')
  assert.match(page('1.9.0/changes'), /href="\.\.\/\.\.\/compare\/#1\.0\.0\.\.\.1\.9\.0"/)
  assert.match(page('1.9.0/src'), /<li>src\/lib\.rs <span class="quiet">\d+ B<\/span><\/li>/)
  assert.match(page('compare'), /<option value="1\.10\.0" data-size="\d+" data-unpacked="\d+"/)
  assert.deepEqual(
    readdirSync(join(out, 'crates/base')).filter(name => !name.endsWith('.crate')),
    ['1.0.0', '1.10.0', '1.9.0', 'badge.svg', 'compare', 'crate.json', 'index.html', 'latest'],
  )
  assert.equal(readdirSync(out).includes('feeds'), false)
  assert.equal((await buildStatic(job)).changed, 0)
})
