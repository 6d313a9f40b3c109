import type { Name } from '../name.ts'
import { DURATIONS, inUnits } from '../quantity.ts'
import { untilText } from '../timestamp.ts'
import type { Version } from '../version.ts'
import { type AlarmKind, ANY_VERSION, type UpstreamCrate } from './crate.ts'
import { advisoriesOfVersion, type UpstreamPolicy, type Verdict, verdictsOf } from './policy.ts'

/** How a version of an upstream is shown, for people and programs. */
export interface VersionState {
  readonly upstream: string
  readonly name: Name
  readonly version: Version
  readonly state: Verdict['state']
  /** The setting or rule that decides; null where the upstream itself does. */
  readonly rule: string | null
  /** The date from which it is shown otherwise, `YYYY-MM-DD`; null if no date changes it. */
  readonly until: string | null
  /** Whether its line, its bytes or its existence have changed, and nobody has accepted that. */
  readonly changed: boolean
  readonly allowed: boolean
  /** Whether `allow` shows it: it is held, or an advisory denies it. */
  readonly mayAllow: boolean
  /** The advisories that cover it, as texts. */
  readonly advisories: readonly string[]
}

export const ALARMS: Readonly<Record<AlarmKind, string>> = {
  checksum: 'has other bytes there now; the first ones stay here',
  line: 'has another index line there now; the first one stays here',
  gone: 'is not there any more; it is shown as yanked',
  lure: 'is held, and all others were yanked around its release: do not allow it unseen',
  duplicate: 'has two lines of one version there; only the first one is shown here',
  foreign: 'has lines of other crates in its index file there; they are left out',
  encoding: 'has lines there that are not UTF-8; they are left out',
  name: 'is a crate of this registry, and now there, too: find out whose',
}

/** Returns a version as commands name it; a crate where all versions are meant. */
export function specOf({ name, version }: { name: string; version: string }): string {
  return version === ANY_VERSION ? name : `${name}@${version}`
}

/** Returns how each version of a crate is shown, in the order of its lines. */
export function explainCrate(
  upstream: string,
  crate: UpstreamCrate,
  policy: UpstreamPolicy,
  now: Date,
): VersionState[] {
  return Array.from(verdictsOf(crate, policy, now), ([{ name, version }, verdict]) => {
    const { state } = verdict
    const setting = {
      ...{ shown: null, yanked: null, gone: null, guarded: 'lure_guard' },
      held: `hold: ${inUnits(policy.hold, DURATIONS)}`,
      denied: verdict.rule ?? 'deny',
    }[state]
    const rule = setting && `upstream.${upstream}.${setting}`
    const until = verdict.until === undefined ? null : untilText(verdict.until).slice(0, 10)
    const { claim, gone } = crate.sightings.get(version) ?? {}
    const changed = claim !== undefined || gone !== undefined
    const allowed = policy.allowed.has(version)
    const mayAllow = state === 'held' || (setting?.startsWith('deny_advisories:') ?? false)
    const { about } = advisoriesOfVersion(policy.advisories, version)
    const advisories = about.map(({ id, title }) => `${id}: ${title}`)
    const shown = { upstream, name, version, state, rule, until }
    return { ...shown, changed, allowed, mayAllow, advisories }
  })
}

/** Returns how a version is shown as a sentence that also says who can change it. */
export function sentenceOf(version: VersionState): string {
  const { upstream, state, rule, until, changed, mayAllow, advisories } = version
  const spec = specOf(version)
  const command = (verb: string) => `\`plimsoll upstream ${verb} ${spec} --upstream ${upstream}\``
  const allow = `${command('allow')} or an administrator's page shows it at once`
  const sentences = {
    shown: 'is shown',
    yanked: 'is yanked by the upstream',
    gone: `is shown as yanked: the upstream does not have it any more (${command('accept')})`,
    held: `is shown as yanked (${rule}) ${until === null ? 'because its age is unknown' : `until ${until}`}; ${allow}`,
    guarded: `is shown although the upstream has yanked it (${rule}), until ${until}`,
    denied: `is shown as yanked and not downloaded (${rule}); ${mayAllow ? allow : 'the operator can change the rule'}`,
  }
  const more =
    changed && state !== 'gone' ? `; the upstream has changed it (${command('accept')})` : ''
  const covered = advisories.length > 0 ? `; covered by ${advisories.join('; ')}` : ''
  return `${spec} ${sentences[state]}${more}${covered}`
}
