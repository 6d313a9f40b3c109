import { CRATES_IO } from '../../core/index-url.ts'
import { canonicalName, type Name } from '../../core/name.ts'
import type { UpstreamSettings } from '../../core/settings/upstream.ts'
import { isOfCratesIo } from '../../core/upstream/cargo-config.ts'
import type { UpstreamPolicy } from '../../core/upstream/policy.ts'
import type { Version } from '../../core/version.ts'
import type { Database } from '../database/connection.ts'
import { column, run, upsert } from '../database/statement.ts'
import { advisoriesOf } from '../records/advisories/read.ts'
import { addEvent, type Change, makeChange } from '../records/change.ts'

/** Returns the index URLs by which advisories name an upstream: also of a copy of crates.io. */
export function originOf(settings: UpstreamSettings): string[] {
  return [settings.index, ...(isOfCratesIo(settings) ? [CRATES_IO] : [])]
}

/** Returns the rules of an upstream for a crate, as they are now. */
export async function readPolicy(
  db: Database,
  settings: UpstreamSettings,
  rules: Pick<UpstreamPolicy, 'allow' | 'deny'>,
  name: Name,
): Promise<UpstreamPolicy> {
  const { hold, lure_guard: lureGuard, deny_advisories: denies } = settings
  const known = denies === 'off' ? [] : await advisoriesOf(db, name, originOf(settings))
  const allowed = await allowedVersions(db, settings.name, name)
  return { hold, lureGuard, ...rules, allowed, advisories: { denies, known } }
}

/** Returns the versions of a crate that administrators have exempted from an upstream's rules. */
async function allowedVersions(
  db: Database,
  upstream: string,
  name: Name,
): Promise<ReadonlySet<Version>> {
  const sql =
    'SELECT version FROM upstream_allowed WHERE upstream = ? AND crate = ? ORDER BY version'
  return new Set(await column<Version>(db, sql, upstream, canonicalName(name)))
}

/** Exempts a version from the hold of an upstream, or ends that; an audit event says who did. */
export async function decideVersion(
  db: Database,
  change: Change,
  decided: { readonly upstream: string; readonly name: Name; readonly version: Version },
  isAllowed: boolean,
): Promise<void> {
  const { upstream, name, version } = decided
  const crate = canonicalName(name)
  await makeChange(db, change, 'administrator', async (tx, by) => {
    const action = isAllowed ? 'upstream-allow' : 'upstream-hold'
    await addEvent(tx, by, { action, crate, version, detail: { upstream } })
    const row = { upstream, crate, version, at: by.at, actor: by.actor }
    if (isAllowed) return upsert(tx, 'upstream_allowed', ['upstream', 'crate', 'version'], row)
    const sql = 'DELETE FROM upstream_allowed WHERE upstream = ? AND crate = ? AND version = ?'
    await run(tx, sql, upstream, crate, version)
  })
}
