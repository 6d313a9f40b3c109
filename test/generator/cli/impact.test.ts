// Mirrors generator/cli/impact.ts: in a registry folder, and in its tree alone.
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openDatabase } from '../../../generator/database/database.ts'
import { run } from '../../../generator/database/statement.ts'
import { rustSecFile } from '../../support/advisories.ts'
import { plimsollHere } from '../../support/program.ts'
import { registryFolder } from '../../support/registry-folder.ts'
import { ownDependency } from '../../support/release.ts'

const INDEX = 'sparse+https://crates.example/index/'
const on = (name: string, req: string, kind: 'normal' | 'dev' = 'normal') =>
  ownDependency(name, { req, kind, index: INDEX }).manifest

test('impact lists what reaches a version, an advisory or a crate from elsewhere, and reports it', async t => {
  const { dir, folder, ok, put, run: plimsoll } = await registryFolder(t)
  put('1/a.crate', { name: 'low-lib', version: '1.0.0' })
  put('1/b.crate', {
    name: 'low-lib',
    version: '1.1.0',
    manifest: '\n[dependencies]\nserde = "1"\n',
  })
  put('2/mid.crate', { name: 'mid', version: '1.0.0', manifest: on('low-lib', '=1.0') })
  put('3/app.crate', { name: 'app', version: '2.0.0', manifest: on('mid', '1') })
  put('3/new.crate', { name: 'new', version: '1.0.0', manifest: on('low-lib', '1', 'dev') })
  for (const part of ['1', '2', '3']) await ok('add', part)
  const json = async (...args: string[]) => JSON.parse(await ok('impact', ...args, '--json'))
  const reached = async (...args: string[]) =>
    (await json(...args)).reaches.map(
      ({ crate, version, how, kind, path }: Record<string, string> & { path: string[] }) =>
        `${crate}@${version} ${how} ${kind}: ${path.slice(1).join(' ')}`,
    )
  const old = [
    'mid@1.0.0 resolved normal: low-lib@1.0.0',
    'app@2.0.0 resolved normal: mid@1.0.0 low-lib@1.0.0',
    'new@1.0.0 possible dev: low-lib@1.0.0',
  ]
  assert.deepEqual(await reached('low_lib@1.0.0'), old)
  assert.deepEqual(await reached('low-lib@<1.1', '--how', 'resolved'), old.slice(0, 2))
  const about = { name: 'serde', requirement: '<1.0.5', advisory: null, here: false }
  const path = ['low-lib@1.1.0', 'serde']
  assert.deepEqual(await json('serde@<1.0.5'), {
    target: about,
    reaches: [{ crate: 'low-lib', version: '1.1.0', how: 'possible', kind: 'normal', path }],
  })
  assert.deepEqual(await reached('serde@<0.9'), [])
  mkdirSync(join(dir, 'advisories'), { recursive: true })
  const more = `source = "${INDEX}"`
  const hole = {
    id: 'ACME-2026-0001',
    name: 'low-lib',
    patched: ['>= 1.1.0'],
    title: 'A hole',
    more,
  }
  writeFileSync(join(dir, 'advisories', 'ACME-2026-0001.md'), rustSecFile(hole))
  await ok('advisories', 'update')
  assert.deepEqual(await reached('low-lib', '--advisory', 'ACME-2026-0001'), old)
  const none = await plimsoll('impact', 'mid', '--advisory', 'ACME-2026-0001')
  const unknown =
    'no advisory ACME-2026-0001 on mid is known here; `plimsoll advisories update` takes new ones'
  assert.deepEqual([none.code, none.stderr.trim()], [2, `error: ${unknown}`])
  const tree = ['impact', 'low-lib', '--advisory', 'ACME-2026-0001', '--report']
  const { stdout } = await plimsollHere(
    [...tree, '--dir', join(dir, 'public')],
    {},
    { cwd: folder },
  )
  assert.match(
    stdout,
    /^# low-lib is reached by 3 versions of 3 crates\n\n- Asked: \S+Z\n- Advisory: ACME/,
  )
  assert.match(
    stdout,
    /\| app@2\.0\.0 \| resolved \| normal \| .* \| mid@1\.0\.0 > low-lib@1\.0\.0 \|/,
  )
  const lines = await ok('impact', 'mid')
  assert.deepEqual(lines.trim().split('\n'), [
    'VERSION    HOW       KIND    THROUGH',
    'app@2.0.0  resolved  normal  mid@1.0.0',
    'mid is reached by 1 version of 1 crate',
  ])
  const wrong = await plimsoll('impact', 'mid*')
  assert.equal(wrong.code, 2)
})

test('what a program ships with is told by a registry and a static build, and who published it', async t => {
  const { dir, folder, ok, put } = await registryFolder(t)
  const locked = `[[package]]\nname = "low"\nversion = "1.0.0"\nsource = "${INDEX}"\n`
  put('all/low.crate', { name: 'low', version: '1.0.0' })
  const files = { 'Cargo.lock': locked, 'src/main.rs': '' }
  put('all/tool.crate', { name: 'tool', version: '1.0.0', files })
  await ok('add', 'all')
  const reaches = async (...args: string[]) =>
    JSON.parse(await ok('impact', 'low', '--json', ...args)).reaches
  const path = ['tool@1.0.0', 'low@1.0.0']
  const how = { how: 'resolved', kind: 'ships with' }
  const reach = { crate: 'tool', version: '1.0.0', ...how, path }
  assert.deepEqual(await reaches(), [reach])
  const out = join(folder, 'out')
  const build = ['build', '--from', join(folder, 'all'), '--out', out]
  const base = ['--base-url', INDEX.slice('sparse+'.length, -'/index/'.length)]
  for (const cache of ['--no-cache', `--cache=${join(folder, 'cache.db')}`]) {
    const { stdout } = await plimsollHere([...build, ...base, cache], {}, { cwd: folder })
    assert.match(stdout, cache === '--no-cache' ? /^2 versions of 2 / : / 0 files changed/)
  }
  const asked = ['impact', 'low', '--json', '--dir', out]
  const tree = await plimsollHere(asked, {}, { cwd: folder })
  assert.deepEqual(JSON.parse(tree.stdout).reaches, [reach])
  const job = {
    ...{ kind: 'github', issuer: 'https://token.actions.githubusercontent.com', subject: 's' },
    ...{ repository: 'acme/tool', run: '1', commit: 'c0ffee' },
  }
  const database = await openDatabase(join(dir, 'plimsoll.db'))
  const sql = 'UPDATE releases SET job = ? WHERE version = ? AND crate_id = 2'
  await run(database, sql, JSON.stringify(job), '1.0.0')
  await database.close()
  await ok('build', '--all')
  const report = await ok('impact', 'low', '--report')
  assert.match(
    report,
    /\| tool@1\.0\.0 \| resolved \| ships with \| acme\/tool \| \S+Z \| c0ffee \| low@1\.0\.0 \|/,
  )
})
