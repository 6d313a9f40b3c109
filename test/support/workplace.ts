import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { openRegistry } from '../../generator/open.ts'
import { drain } from '../../generator/pages/build.ts'
import type { Change } from '../../generator/records/change.ts'
import { followReleases } from '../../generator/records/releases-changes.ts'
import { check, type Submission } from '../../generator/registry/changes/check.ts'
import {
  additionOf,
  addTogether,
  type Publication,
} from '../../generator/registry/changes/publish.ts'
import { DATABASE_FILE } from '../../generator/registry/folder.ts'
import { initRegistry, type Registry } from '../../generator/registry/registry.ts'
import { Cleanup } from './cleanup.ts'
import { buildCrate, type CrateParts } from './crate-builder.ts'
import { isOnPostgres, newDatabase, writeEmptyFile } from './engine.ts'
import { scratch } from './scratch.ts'

/** The operator at the command line, at a fixed time. */
export const OPERATOR: Change = {
  at: '2026-11-20T12:00:00Z',
  actor: 'command line',
  who: 'operator',
}

/** An empty folder that is gone after the test. */
export function folderOf(t: TestContext): string {
  return scratch(new Cleanup(t))
}

/** A new registry in its own folder, closed and removed after the test. */
export async function newRegistry(t: TestContext): Promise<Registry> {
  const dir = folderOf(t)
  const { settings, drop } = await newDatabase()
  new Cleanup(t).add(drop)
  const values = { 'registry.base_url': 'https://crates.example', ...settings }
  await initRegistry(dir, { env: {} }, values)
  if (!isOnPostgres) await writeEmptyFile(join(dir, DATABASE_FILE))
  return reopen(t, dir)
}

/** A registry that exists, opened once more, as another process would. */
export async function reopen(t: TestContext, dir: string): Promise<Registry> {
  const registry = await openRegistry(dir, { env: {} })
  new Cleanup(t).add(() => registry.close())
  return registry
}

/** The file of a key in the crate store, which has to be a folder. */
export function storedPath({ crates }: Registry, key: string): string {
  const path = crates.path(key)
  assert.ok(path !== null, 'the crate store is no folder')
  return path
}

/** A file of the public tree as text; fails when there is none. */
export function publicText(registry: Registry, path: string): string {
  return readFileSync(join(registry.tree.root, path), 'utf8')
}

/** The entries in an index file, in the order of its lines, as anybody else reads them. */
export function indexEntries(registry: Registry, path: string) {
  const lines = publicText(registry, path).trimEnd().split('\n')
  return lines.map(line => JSON.parse(line))
}

/** The versions in an index file, in the order of its lines. */
export function indexVersions(registry: Registry, path: string): string[] {
  return indexEntries(registry, path).map(({ vers }) => vers)
}

/** Takes a submission into the truth: a publish that is killed before it is shown. */
export async function addSubmission(
  registry: Registry,
  submission: Submission,
  change: Change,
): Promise<Omit<Publication, 'shown'>> {
  const addition = additionOf(registry, await check(registry, submission, change))
  const { outcomes } = await registry.mutex.run(() =>
    addTogether(registry, [addition], (tx, added) => followReleases(tx, registry.followers, added)),
  )
  const [outcome] = outcomes
  if (!outcome || 'error' in outcome) throw outcome?.error
  return outcome.value
}

/** Takes a crate into the truth; the public tree is another matter. */
export async function addCrate(
  registry: Registry,
  parts: CrateParts,
  change = OPERATOR,
): Promise<Omit<Publication, 'shown'>> {
  const staged = await registry.crates.stage(once(buildCrate(parts)), 1 << 20)
  try {
    return await addSubmission(registry, { bytes: staged, pubtime: change.at }, change)
  } finally {
    await staged.discard()
  }
}

/** Takes a crate in and shows it. */
export async function addAndShow(
  registry: Registry,
  parts: CrateParts,
  change = OPERATOR,
): Promise<Omit<Publication, 'shown'>> {
  const accepted = await addCrate(registry, parts, change)
  await drain(registry)
  return accepted
}

/** Bytes as a stream of one piece. */
export async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}
