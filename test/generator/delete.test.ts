import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { type Code, Refusal } from '../../core/error/error.ts'
import { parseName } from '../../core/name.ts'
import { parseVersion } from '../../core/version.ts'
import { addSubmission } from '../../generator/add/add.ts'
import { build } from '../../generator/build/build.ts'
import { deleteReleases, planDeletion } from '../../generator/delete.ts'
import { initRegistry, openRegistry, type Registry } from '../../generator/registry.ts'
import { verifyCrates } from '../../generator/verify/crates.ts'
import { buildCrate } from '../support/crate-builder.ts'

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-delete-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const change = { at: '2026-11-20T12:00:00Z', actor: 'test', user: null, tokenId: null }
let count = 0

/** A registry with `base` 1.0.0 and 1.1.0, and `user` 1.0.0 that needs `base` ^1.1. */
async function withRegistry(work: (registry: Registry) => Promise<void>): Promise<void> {
  const dir = join(folder, String(count++))
  await initRegistry(dir, { env: {} }, { 'registry.base_url': 'http://127.0.0.1:1' })
  const registry = await openRegistry(dir, { env: {} })
  try {
    await add(registry, 'base', '1.0.0')
    await add(registry, 'base', '1.1.0')
    const own = 'registry-index = "sparse+http://127.0.0.1:1/index/"'
    await add(registry, 'user', '1.0.0', `[dependencies.base]\nversion = "1.1"\n${own}\n`)
    await build(registry, { all: true })
    await work(registry)
    const findings = []
    for await (const finding of verifyCrates(registry, { repair: false, served: false }))
      findings.push(finding)
    assert.deepEqual(findings, [])
  } finally {
    await registry.close()
  }
}

async function add(
  registry: Registry,
  name: string,
  version: string,
  manifest = '',
): Promise<void> {
  const crate = buildCrate({ name, version, manifest })
  async function* source() {
    yield crate
  }
  const bytes = await registry.crates.stage(source(), 1e6)
  try {
    await addSubmission(registry, { bytes, pubtime: change.at }, change)
  } finally {
    await bytes.discard()
  }
}

async function files(registry: Registry): Promise<string[]> {
  const found: string[] = []
  for await (const path of registry.tree.list()) found.push(path)
  for await (const key of registry.crates.list())
    found.push(`store ${key.split('/').slice(0, -1).join('/')}`)
  return found.sort()
}

const base = parseName('base')
const refusesWith = (code: Code) => (error: unknown) =>
  error instanceof Refusal && error.issues[0].code === code

test('a version goes from catalog, index, public tree and crate store; the others stay', () =>
  withRegistry(async registry => {
    await deleteReleases(
      registry,
      { name: base, version: parseVersion('1.0.0'), force: false },
      change,
    )
    assert.deepEqual(await files(registry), [
      'crates/base/base-1.1.0.crate',
      'crates/user/user-1.0.0.crate',
      'index/ba/se/base',
      'index/config.json',
      'index/us/er/user',
      'store ba/se/base',
      'store us/er/user',
    ])
    const index = (await registry.tree.read('index/ba/se/base'))?.toString() ?? ''
    assert.deepEqual(
      index
        .trim()
        .split('\n')
        .map(line => JSON.parse(line).vers),
      ['1.1.0'],
    )
  }))

test('what another crate needs goes only by force, and the crate with its last version', () =>
  withRegistry(async registry => {
    const whole = { name: base, version: null, force: false }
    assert.deepEqual((await planDeletion(registry, whole)).dependents, ['user 1.0.0'])
    await assert.rejects(deleteReleases(registry, whole, change), refusesWith('delete_needed'))
    assert.equal((await files(registry)).length, 9)
    await deleteReleases(registry, { ...whole, force: true }, change)
    assert.deepEqual(await files(registry), [
      'crates/user/user-1.0.0.crate',
      'index/config.json',
      'index/us/er/user',
      'store us/er/user',
    ])
  }))

test('a deleted version can come back with the bytes it had, and with no others', () =>
  withRegistry(async registry => {
    await deleteReleases(
      registry,
      { name: base, version: parseVersion('1.0.0'), force: false },
      change,
    )
    await assert.rejects(
      add(registry, 'base', '1.0.0', '[features]\nnew = []\n'),
      refusesWith('version_deleted'),
    )
    await assert.rejects(add(registry, 'Base', '3.0.0'), refusesWith('name_taken'))
    await add(registry, 'base', '1.0.0')
    await build(registry)
  }))

test('unknown crates and versions are refused', () =>
  withRegistry(async registry => {
    const none = { name: parseName('none'), version: null, force: true }
    await assert.rejects(deleteReleases(registry, none, change), refusesWith('crate_unknown'))
    const version = { name: base, version: parseVersion('9.9.9'), force: true }
    await assert.rejects(deleteReleases(registry, version, change), refusesWith('release_unknown'))
  }))
