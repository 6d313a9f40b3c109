import * as v from 'valibot'
import type { SettingValue } from './kind.ts'
import { findSetting } from './schema.ts'
import type { Origin } from './settings.ts'

/**
 * The settings of access that were given when a registry was served last, by key: what was in force,
 * and what `plimsoll.toml` said then, null for nothing.
 */
export type AccessRecord = Readonly<
  Record<string, { readonly value: SettingValue; readonly file: SettingValue }>
>

/** How far a value opens the registry, compared with another of the same setting. */
type Width = (value: SettingValue) => number

const less: Width = value => -Number(value)
/** The words that open least, the narrowest first; every other one opens more. */
const words =
  (...narrow: readonly string[]): Width =>
  value =>
    narrow.includes(String(value)) ? narrow.indexOf(String(value)) : narrow.length

/** Who may read, publish and administer, and what may be published and fetched. First match. */
const WIDTHS: readonly (readonly [key: RegExp, width: Width])[] = [
  [/^auth\.(?:required|password_cost)$/, less],
  [/^auth\./, Number],
  [/^registry\.api$/, words('none')],
  [/^owners\.add$/, words('invite')],
  [/^owners\./, Number],
  // 0 is no limit.
  [
    /^limits\..*(?:logins_per_minute|_per_day)$/,
    value => Number(value) || Number.POSITIVE_INFINITY,
  ],
  [/^policy\.preset$/, words('public')],
  [/^policy\.duplicate_manifest$/, words('deny')],
  [/^policy\..*_max$/, Number],
  [/^policy\./, words('error', 'warn')],
  [/^upstream\.[^.]+\.(?:hold|lure_guard|offline)$/, less],
  [/^upstream\.[^.]+\.fallback$/, words('off', 'redirect')],
]
const FORBIDS = /^(?:policy\.reserved_(?:names_extra|prefixes)|upstream\.[^.]+\.deny)$/
const ALLOWS = /^(?:policy\.allowed_registries|upstream\.[^.]+\.allow)$/

/** Returns whether a setting decides who may read, publish or administer, or what. */
export function isAccess(key: string): boolean {
  return FORBIDS.test(key) || ALLOWS.test(key) || WIDTHS.some(([pattern]) => pattern.test(key))
}

function isWider(key: string, now: SettingValue, before: SettingValue): boolean {
  if (Array.isArray(now) && Array.isArray(before)) {
    const lacks = (list: readonly string[], of: readonly string[]) =>
      of.some(item => !list.includes(item))
    if (FORBIDS.test(key)) return lacks(now, before)
    // No list of an upstream allows everything.
    const isAll = key.startsWith('upstream.') && now.length === 0 && before.length > 0
    return ALLOWS.test(key) && (isAll || lacks(before, now))
  }
  const [, width] = WIDTHS.find(([pattern]) => pattern.test(key)) ?? []
  return width !== undefined && width(now) > width(before)
}

/**
 * Keeps what was in force where nobody says otherwise: no flag, no variable, and no line of the file
 * that is another than it was. Narrower settings count. Returns the keys that it has set.
 */
export function keepAccess(
  values: Map<string, SettingValue>,
  origins: Map<string, Origin>,
  before: AccessRecord,
  defaultOf: (key: string) => SettingValue,
): string[] {
  return Object.entries(before)
    .filter(([key, { value, file }]) => {
      const kind = findSetting(key)?.row.kind
      const [, upstream] = /^(upstream\.[^.]+\.)/.exec(key) ?? []
      const isThere = !upstream || [...values.keys()].some(given => given.startsWith(upstream))
      // Another version may not know the setting, or the value.
      if (!kind || !isThere || !v.is(kind.schema, value)) return false
      const origin = origins.get(key)
      const said = typeof origin === 'object' ? origin.kind : null
      const isSame = JSON.stringify(values.get(key)) === JSON.stringify(file)
      if (said !== null && !(said === 'file' && isSame)) return false
      if (!isWider(key, values.get(key) ?? defaultOf(key), value)) return false
      values.set(key, value)
      origins.set(key, { kind: 'records', name: 'the last start of the daemon' })
      return true
    })
    .map(([key]) => key)
}

/** Returns the record of the settings of access that are given, for `keepAccess`. */
export function accessRecord(
  values: ReadonlyMap<string, SettingValue>,
  ofFile: ReadonlyMap<string, SettingValue>,
): AccessRecord {
  const given = [...values].filter(([key]) => isAccess(key))
  // The preset comes first, because defaults of others follow from it.
  given.sort(([a], [b]) => Number(b === 'policy.preset') - Number(a === 'policy.preset'))
  return Object.fromEntries(
    given.map(([key, value]) => [key, { value, file: ofFile.get(key) ?? null }]),
  )
}
