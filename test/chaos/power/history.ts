import { readFile } from 'node:fs/promises'
import { parseName } from '../../../core/name.ts'
import { crateFilePath } from '../../../core/paths/crates.ts'
import { indexPath } from '../../../core/paths/tree.ts'
import { parseVersion } from '../../../core/version.ts'
import { listTokens } from '../../../generator/accounts/tokens.ts'
import { findCrate } from '../../../generator/records/crates.ts'
import { listOwners } from '../../../generator/records/owners.ts'
import type { Registry } from '../../../generator/registry/registry.ts'
import { checksum, crateBytes, type Line, parseIndex } from '../driver/lines.ts'
import { ensure, Violation } from '../run.ts'
import type { Disk } from './disk.ts'
import type { KeptPromise } from './recording.ts'

/** A change with the moment of its acknowledgement in the recording. */
export type DatedPromise = KeptPromise & { readonly at: number }
type DatedChange = Exclude<DatedPromise, { readonly what: 'token' }>

/** Finds when each change was acknowledged; in the order of these moments. */
export function dated(promises: readonly KeptPromise[], disk: Disk): DatedPromise[] {
  const moments = new Map<string, number>()
  const counts = new Map<string, number>()
  for (const { at, place, text } of disk.answers) {
    const command = /^ack (\d+) 0\n/.exec(text)?.[1]
    if (command !== undefined) moments.set(`command ${command}`, at)
    const port = /->\[?.*:(\d+)\]$/.exec(place)?.[1]
    if (port === undefined || !text.startsWith('HTTP/1.1 2')) continue
    counts.set(port, (counts.get(port) ?? 0) + 1)
    moments.set(`${port} ${counts.get(port)}`, at)
  }
  const datedPromises = promises.map(fact => {
    const { by } = fact
    const at = moments.get('command' in by ? `command ${by.command}` : `${by.port} ${by.answer}`)
    if (at === undefined) throw new Error(`no answer in the recording for ${JSON.stringify(fact)}`)
    return { ...fact, at }
  })
  return datedPromises.sort((a, b) => a.at - b.at)
}

/**
 * Fails unless an open registry has everything that was acknowledged before a moment. A change that
 * was not may be there or not.
 */
export async function ensurePromises(
  registry: Registry,
  promises: readonly DatedPromise[],
  at: number,
): Promise<void> {
  const before = promises.filter(fact => fact.at < at)
  const indexes = new Map<string, ReadonlyMap<string, Line>>()
  for (const fact of before) {
    if (fact.what === 'publish') await ensureVersion(registry, fact, indexes)
    else if (fact.what === 'token') {
      const tokens = await listTokens(registry.database)
      const isThere = tokens.some(token => token.name === fact.name)
      ensure(isThere, `the token ${fact.name} was printed and is gone`)
    } else {
      // The client's last change of the subject counts; a later change may have been under way.
      const same = (other: DatedPromise) => subjectOf(other) === subjectOf(fact)
      if (before.findLast(same) !== fact || promises.find(other => other.at >= at && same(other)))
        continue
      await ensureState(registry, fact, indexes)
    }
  }
}

/** What later changes may undo: a flag of a version, or an owner of a crate. */
function subjectOf(fact: DatedPromise): string {
  if (/yank$/.test(fact.what) && 'about' in fact) return `${fact.name} ${fact.about}`
  return /own$/.test(fact.what) ? `owner of ${fact.name}` : ''
}

async function ensureVersion(
  registry: Registry,
  { name, about: version }: DatedChange,
  indexes: Map<string, ReadonlyMap<string, Line>>,
): Promise<void> {
  const line = (await linesOf(registry, name, indexes)).get(version)
  const cksum = checksum(crateBytes(name, version))
  ensure(line, `${name} ${version} was acknowledged and is not in the index`)
  ensure(line.cksum === cksum, `the index has another checksum for ${name} ${version}`)
  const path = registry.tree.path(crateFilePath(parseName(name), parseVersion(version)))
  const bytes = await readFile(path).catch(() => null)
  ensure(bytes, `the .crate of ${name} ${version} is gone`)
  ensure(checksum(bytes) === cksum, `the .crate of ${name} ${version} has other bytes`)
}

async function ensureState(
  registry: Registry,
  { what, name, about }: DatedChange,
  indexes: Map<string, ReadonlyMap<string, Line>>,
): Promise<void> {
  if (/yank$/.test(what)) {
    const yanked = (await linesOf(registry, name, indexes)).get(about)?.yanked
    const words = `${name} ${about} was acknowledged with its ${what}, the index says ${yanked}`
    ensure(yanked === (what === 'yank'), words)
    return
  }
  const crate = await findCrate(registry.database, parseName(name))
  if (!crate) throw new Violation(`${name} has lost its record`)
  const owners = await listOwners(registry.database, crate.id)
  const isOwner = owners.some(owner => owner.login === about)
  ensure(isOwner === (what === 'own'), `after ${what}, ${about} as owner of ${name}: ${isOwner}`)
}

async function linesOf(
  registry: Registry,
  name: string,
  indexes: Map<string, ReadonlyMap<string, Line>>,
): Promise<ReadonlyMap<string, Line>> {
  const index = indexes.get(name)
  if (index) return index
  const text = (await registry.tree.read(indexPath(parseName(name))))?.toString() ?? ''
  const lines = new Map(parseIndex(name, text).map(line => [line.vers, line]))
  indexes.set(name, lines)
  return lines
}
