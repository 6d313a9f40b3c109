import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { parseName } from '../../core/name.ts'
import { indexPath } from '../../core/paths/tree.ts'
import { addUser } from '../../generator/accounts/accounts.ts'
import { createToken } from '../../generator/accounts/tokens.ts'
import { all, LIST, type Row } from '../../generator/database/statement.ts'
import { build } from '../../generator/pages/build.ts'
import { isTemporary } from '../../generator/places/disk/steps.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import { verifyCrates } from '../../generator/verify/crates.ts'
import type { Finding } from '../../generator/verify/finding.ts'
import { Cleanup } from '../support/cleanup.ts'
import { buildCrate } from '../support/crate-builder.ts'
import { filesBelow } from '../support/folder.ts'
import { encodePublish, plainMetadata } from '../support/release.ts'
import { folderOf, newRegistry, OPERATOR } from '../support/workplace.ts'

/** A version that a crash test publishes; the same parts give the same bytes. */
export interface Candidate {
  readonly name: string
  readonly version: string
}

/** The marks of what Cargo reads; pages and the git index follow later. */
export const FOR_CARGO: readonly string[] = ['file', 'index', 'whole']

/** A token of a new user, who may publish. */
export async function tokenOf({ database }: Registry): Promise<string> {
  const { id } = await addUser(database, { login: 'publisher', admin: false }, OPERATOR)
  const order = { userId: id, name: 'load', scopes: null, crates: null, expires: null }
  return (await createToken(database, order, OPERATOR)).token
}

/** A registry with a user who may publish. */
export async function openPublishing(t: TestContext) {
  // First, so that the last victim is dead before its folder goes.
  const cleanup = new Cleanup(t)
  const registry = await newRegistry(t)
  const token = await tokenOf(registry)
  await build(registry, { all: true })
  return { cleanup, registry, token, scratch: folderOf(t) }
}

/** The `.crate` of a candidate. */
export function bytesOf({ name, version }: Candidate): Uint8Array {
  return buildCrate({ name, version, files: { 'src/lib.rs': `// ${name} ${version}\n` } })
}

/** Publishes as Cargo does; null when the connection broke before an answer came. */
export async function publish(
  url: string,
  token: string,
  candidate: Candidate,
): Promise<{ status: number; text: string; retryAfter: number } | null> {
  const answer = await fetch(`${url}/api/v1/crates/new`, {
    method: 'PUT',
    headers: { authorization: token },
    body: encodePublish(plainMetadata(candidate.name, candidate.version), bytesOf(candidate)),
  }).catch(() => null)
  const retryAfter = Number(answer?.headers.get('retry-after') ?? Number.NaN)
  const text = answer && (await answer.text().catch(() => null))
  return answer && text !== null ? { status: answer.status, text, retryAfter } : null
}

/** Fails unless the answer to a publish is a success. */
export function assertPublished(answer: { status: number; text: string } | null): void {
  assert.ok(answer)
  assert.equal(answer.status, 200)
  assert.deepEqual(Object.keys(JSON.parse(answer.text) as object), ['warnings'], answer.text)
}

/**
 * Whether a running daemon gives a version to its users: a line in the index, and the bytes that it
 * names.
 */
export async function assertServed(url: string, candidate: Candidate): Promise<void> {
  const bytes = bytesOf(candidate)
  const index = await (await fetch(`${url}/${indexPath(parseName(candidate.name))}`)).text()
  const line = index.split('\n').find(text => text.includes(`"vers":"${candidate.version}"`))
  assert.ok(line, `${candidate.name} ${candidate.version} is not in its index file`)
  assert.equal(
    (JSON.parse(line) as { cksum: string }).cksum,
    createHash('sha256').update(bytes).digest('hex'),
  )
  const crate = await fetch(
    `${url}/crates/${candidate.name}/${candidate.name}-${candidate.version}.crate`,
  )
  assert.deepEqual(Buffer.from(await crate.arrayBuffer()), Buffer.from(bytes))
}

/**
 * Fails unless everything agrees, nothing is pending and nothing half-written lies in the index.
 */
export async function assertSound(registry: Registry): Promise<void> {
  const findings: Finding[] = []
  for await (const finding of verifyCrates(registry, { repair: false, served: false }))
    findings.push(finding)
  assert.deepEqual(findings, [])
  const marks = await all<Row<'marks'>>(
    registry.database,
    `SELECT * FROM marks WHERE kind IN ${LIST}`,
    FOR_CARGO,
  )
  assert.deepEqual(marks, [])
  assert.deepEqual(filesBelow(join(registry.tree.root, 'index')).filter(isTemporary), [])
}
