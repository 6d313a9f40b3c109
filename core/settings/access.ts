import * as v from 'valibot'
import { DENIED_KINDS } from '../upstream/rules.ts'
import type { SettingValue } from './kind.ts'
import { findSetting } from './schema.ts'
import type { Origin } from './source.ts'

/** Access settings of the last start: what was in force, and what `plimsoll.toml` said or null. */
export type AccessRecord = Readonly<
  Record<string, Readonly<Record<'value' | 'file', SettingValue>>>
>

/** How far a value opens the registry, compared with another of the same setting. */
type Width = (value: SettingValue) => number

const less: Width = value => -Number(value)
/** The words that open least, the narrowest first; every other one opens more. */
const words =
  (...narrow: readonly string[]): Width =>
  value =>
    [...narrow, String(value)].indexOf(String(value))
const NO_LIMIT = Number.POSITIVE_INFINITY

/**
 * Who may read, publish and administer, and what they may; the first row that fits a key. Without a
 * width, the setting says whom the registry believes: every other value opens it, to others.
 */
const WIDTHS: readonly (readonly [keys: RegExp, width: Width | null])[] = [
  [/^auth\.(?:required|password_cost)$/, less],
  [/^auth\.passwords$/, words('off')],
  [/^(?:auth|owners)\.(?!add$)/, Number],
  [/^oidc\.[^.]+\.(?:issuer|client_id|subject_claim|groups_claim|admin_groups)$/, null],
  [/^issuer\.[^.]+\.(?:issuer|kind|audience|jwks_uri|jwks_file|ca_file)$/, null],
  [/^upstream\.[^.]+\.index$/, null],
  [/^webhook\.[^.]+\.url$/, null],
  [/^oidc\.[^.]+\.token_days$/, value => Number(value) || NO_LIMIT],
  [/^oidc\.[^.]+\.(?:provision|require|allowed_groups)$/, Number],
  [/^server\.trusted_proxies$/, Number],
  [/^registry\.api$/, words('none')],
  [/^owners\.add$/, words('invite')],
  [
    /^limits\..*(?:logins_per_minute|exchanges_per_minute|_per_day)$/,
    value => Number(value) || NO_LIMIT,
  ],
  [/^policy\.preset$/, words('public')],
  [/^policy\..*_max$/, Number],
  [/^policy\.(?!badges$|categories$)/, words('error', 'deny', 'warn')],
  [/^issuer\.[^.]+\.reuse$/, Number],
  [/^issuer\.[^.]+\.shared$/, words('true', 'auto')],
  [/^upstream\.[^.]+\.(?:hold|lure_guard|offline)$/, less],
  [/^upstream\.[^.]+\.deny_advisories$/, value => -DENIED_KINDS.indexOf(value as never)],
  [/^upstream\.[^.]+\.fallback$/, words('off', 'redirect')],
  [/^upstream\.[^.]+\.(?:allow|deny)$/, Number],
]
const FORBIDS = /\.(?:reserved_names_extra|reserved_prefixes|deny|require)$/

function isWider(key: string, now: SettingValue, before: SettingValue): boolean {
  const [, width] = WIDTHS.find(([keys]) => keys.test(key)) ?? []
  if (width === undefined) return false
  if (width === null) return JSON.stringify(now) !== JSON.stringify(before)
  if (!Array.isArray(now) || !Array.isArray(before)) return width(now) > width(before)
  if (FORBIDS.test(key)) return before.some(item => !now.includes(item))
  // An issuer without a list lets everybody in.
  const isAll = (list: readonly string[]) => key.endsWith('.allowed_groups') && list.length === 0
  return !isAll(before) && (isAll(now) || now.some(item => !before.includes(item)))
}

/**
 * Keeps what was in force where that is narrower and nobody says otherwise: no flag, no variable,
 * and no line of the file that was another before. Returns the keys that it has set.
 */
export function keepAccess(
  values: Map<string, SettingValue>,
  origins: Map<string, Origin>,
  before: AccessRecord,
  defaultOf: (key: string) => SettingValue,
): string[] {
  const kept: string[] = []
  for (const [key, { value, file }] of Object.entries(before)) {
    const kind = findSetting(key)?.row.kind
    const section = /^[^.]+\.[^.]+\.(?=[^.]+$)/.exec(key)?.[0] ?? ''
    const isThere = [...values.keys()].some(each => each.startsWith(section))
    // Another version may not know the setting, or the value.
    if (!kind || !v.is(kind.schema, value) || (section !== '' && !isThere)) continue
    const origin = origins.get(key)
    const isSame = JSON.stringify(values.get(key)) === JSON.stringify(file)
    const isSaid = typeof origin === 'object' && !(origin.kind === 'file' && isSame)
    if (isSaid || !isWider(key, values.get(key) ?? defaultOf(key), value)) continue
    values.set(key, value)
    origins.set(key, { kind: 'records', name: 'the last start of the daemon' })
    kept.push(key)
  }
  return kept
}

/** Returns the record of the settings of access that are given. */
export function accessRecord(
  values: ReadonlyMap<string, SettingValue>,
  ofFile: ReadonlyMap<string, SettingValue>,
): AccessRecord {
  const widening = [...values].filter(([key]) => WIDTHS.some(([keys]) => keys.test(key)))
  // The preset comes first: defaults of others follow from it.
  widening.sort(([a], [b]) => Number(b === 'policy.preset') - Number(a === 'policy.preset'))
  return Object.fromEntries(
    widening.map(([key, value]) => [key, { value, file: ofFile.get(key) ?? null }]),
  )
}
