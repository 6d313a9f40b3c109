import * as v from 'valibot'
import { type Issue, issue, refuseErrors } from '../error/error.ts'
import { withoutCredentials } from '../urls.ts'
import { tomlValue } from './file.ts'
import type { Values } from './row.ts'
import type { sections, topRows } from './schema.ts'
import type { Given, SettingSource } from './source.ts'
import { fromEnvironment, fromFile, fromFlags, show, sourceName } from './source.ts'
import type { SettingKey, SettingValue } from './table.ts'
import { settingTable } from './table.ts'

type Sections = typeof sections

/**
 * Every setting with its effective value, by its key in `plimsoll.toml`; sizes in bytes, times in
 * seconds.
 */
export type Settings = { readonly [S in keyof Sections]: Values<Sections[S]> } & Values<
  typeof topRows
>

/** The settings of `[policy]`. */
export type PolicySettings = Settings['policy']

/** Where an effective value comes from. */
export type Origin = 'default' | 'preset' | SettingSource

export interface ResolvedSettings {
  readonly settings: Settings
  readonly origins: ReadonlyMap<SettingKey, Origin>
}

/** The three sources of settings; each overrides the one above it. */
export interface SettingsInput {
  readonly file?: { readonly name: string; readonly text: string } | undefined
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  /** By key: `{ 'registry.base_url': 'https://…' }`. */
  readonly flags?: Readonly<Record<SettingKey, string | boolean | undefined>> | undefined
}

/** One line of `plimsoll settings`. */
export interface SettingDescription {
  readonly key: SettingKey
  readonly value: SettingValue
  /** The value as written in `plimsoll.toml`; empty when there is none. */
  readonly text: string
  /** `default`, `preset "private"`, or the file, variable or flag. */
  readonly origin: string
}

/** The effective settings. Throws one `Refusal` with every objection to all three sources. */
export function resolveSettings(input: SettingsInput): ResolvedSettings {
  const issues: Issue[] = []
  const given = [
    ...(input.file ? fromFile(input.file, issues) : []),
    ...fromEnvironment(input.env ?? {}, issues),
    ...fromFlags(input.flags ?? {}, issues),
  ]
  const values = new Map<SettingKey, SettingValue>()
  const origins = new Map<SettingKey, Origin>()
  for (const one of given) take(one, values, origins, issues)
  addDefaults(values, origins)
  for (const [key, because] of [
    ['tls.key', 'tls.cert'],
    ['tls.cert', 'tls.key'],
  ] as const) {
    const tried = given.some(one => one.setting.key === key)
    if (values.get(key) === null && values.get(because) !== null && !tried) {
      issues.push(issue('setting_missing', { key, because }))
    }
  }
  refuseErrors(issues)
  return { settings: assemble(values), origins }
}

/** A row per key, in the order of the reference, without the credentials of URLs. */
export function describeSettings(resolved: ResolvedSettings): SettingDescription[] {
  const { settings, origins } = resolved
  return [...settingTable.values()].map(setting => {
    const holder: object =
      setting.section === '' ? settings : settings[setting.section as keyof Sections]
    const value = told(holder[setting.name as keyof typeof holder])
    const origin = origins.get(setting.key) ?? 'default'
    const words = origin === 'preset' ? `preset "${settings.policy.preset}"` : origin
    return {
      key: setting.key,
      value,
      text: tomlValue(setting, value),
      origin: typeof words === 'string' ? words : sourceName(words),
    }
  })
}

/** A value without credentials. */
function told(value: SettingValue): SettingValue {
  if (typeof value === 'string') return withoutCredentials(value)
  return Array.isArray(value) ? value.map(withoutCredentials) : value
}

function take(
  given: Given,
  values: Map<SettingKey, SettingValue>,
  origins: Map<SettingKey, Origin>,
  issues: Issue[],
): void {
  const { setting, raw, source } = given
  const { key, row } = setting
  const result = v.safeParse(row.kind.schema, raw)
  if (!result.success) {
    // As it was written: the input of a schema's last step may be converted already.
    const item = result.issues[0].path?.[0]?.key
    const given = show(Array.isArray(raw) && typeof item === 'number' ? raw[item] : raw)
    const where = sourceName(source)
    issues.push(issue('setting_invalid', { where, key, given, accepts: row.kind.accepts }))
    return
  }
  const before = origins.get(key)
  // Two variables for one setting have no order.
  if (
    typeof before === 'object' &&
    'variable' in before &&
    'variable' in source &&
    values.get(key) !== result.output
  ) {
    issues.push(issue('setting_twice', { key, first: before.variable, second: source.variable }))
  }
  values.set(key, result.output)
  origins.set(key, source)
}

function addDefaults(
  values: Map<SettingKey, SettingValue>,
  origins: Map<SettingKey, Origin>,
): void {
  const preset = values.get('policy.preset') === 'public' ? 'public' : 'private'
  for (const [key, { row }] of settingTable) {
    if (values.has(key)) continue
    values.set(key, row[preset])
    origins.set(key, row.private === row.public ? 'default' : 'preset')
  }
}

/** The values by section; sound because every value came through the schema of its row. */
function assemble(values: ReadonlyMap<SettingKey, SettingValue>): Settings {
  const settings: Record<string, unknown> = {}
  for (const [key, { section, name }] of settingTable) {
    const value = values.get(key)
    if (section === '') settings[name] = value
    else settings[section] = { ...(settings[section] as object | undefined), [name]: value }
  }
  return settings as unknown as Settings
}
