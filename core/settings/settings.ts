// core/settings: Every setting, its sources and its meaning. Commands and the daemon call it; it
// never reads a file.
import * as v from 'valibot'
import { type Issue, issue, refuseErrors } from '../error/error.ts'
import { withoutCredentials } from '../urls/urls.ts'
import { type AccessRecord, accessRecord, keepAccess } from './access.ts'
import { tomlValue } from './file.ts'
import { checkIssuer, type IssuerSettings } from './issuer.ts'
import { file, fileOrNone, list, type SettingValue, type Values } from './kind.ts'
import { knownDefault, namedRows } from './named.ts'
import { checkOidc, type OidcSettings } from './oidc.ts'
import { findSetting, namedSettings, type sections, settingTable, type topRows } from './schema.ts'
import type { Assignment, Environment, Origin, SettingsFile } from './source.ts'
import { fromEnvironment, fromFile, fromFlags, show } from './source.ts'
import type { UpstreamSettings } from './upstream.ts'
import type { WebhookSettings } from './webhook.ts'

/** The effective values by section and key; sizes in bytes, times in seconds. */
export type Settings = {
  readonly [S in keyof typeof sections]: Values<(typeof sections)[S]>
} & Values<typeof topRows> & {
    /** By the names of their sections, in the order in which they were given. */
    readonly issuer: Readonly<Record<string, IssuerSettings>>
    readonly oidc: Readonly<Record<string, OidcSettings>>
    readonly upstream: Readonly<Record<string, UpstreamSettings>>
    readonly webhook: Readonly<Record<string, WebhookSettings>>
  }

export type PolicySettings = Settings['policy']

export interface ResolvedSettings {
  readonly settings: Settings
  readonly values: ReadonlyMap<string, SettingValue>
  readonly origins: ReadonlyMap<string, Origin>
  /** The settings of access that are given or kept. */
  readonly access: AccessRecord
  /** The keys of those that are kept from `before`, because nobody says otherwise. */
  readonly kept: readonly string[]
}

/** What settings accept that have paths. */
const PATHS = new Set([file, fileOrNone, list(file)].map(({ accepts }) => accepts))

/** The three sources of settings; each overrides the ones above it. */
export interface SettingsInput {
  readonly file?: SettingsFile | undefined
  readonly env?: Environment | undefined
  readonly flags?: Readonly<Record<string, string | boolean | undefined>> | undefined
  /** The settings of access when the registry was served last. */
  readonly before?: AccessRecord | null | undefined
  /** Makes the path of a file absolute, which is relative to the registry folder. */
  readonly resolvePath?: ((path: string) => string) | undefined
}

/** Returns the effective settings. Throws one `Refusal` with all errors of the three sources. */
export function resolveSettings(input: SettingsInput): ResolvedSettings {
  const issues: Issue[] = []
  const inFile = input.file ? fromFile(input.file, issues) : []
  const others = [
    ...fromEnvironment(input.env ?? {}, issues),
    ...fromFlags(input.flags ?? {}, issues),
  ]
  const assignments = [...inFile, ...others]
  const values = new Map<string, SettingValue>()
  const origins = new Map<string, Origin>()
  for (const setting of inFile) take(setting, values, origins, issues)
  const ofFile = new Map(values)
  for (const setting of others) take(setting, values, origins, issues)
  const kept = keepAccess(values, origins, input.before ?? {}, key => defaultOf(key, values))
  const access = accessRecord(values, ofFile)
  addDefaults(values, origins)
  const absolute = <T>(path: T) =>
    typeof path === 'string' && path !== '' ? (input.resolvePath?.(path) ?? path) : path
  for (const [key, value] of values)
    if (PATHS.has(findSetting(key)?.row.kind.accepts ?? ''))
      values.set(key, Array.isArray(value) ? value.map(absolute) : absolute(value))
  issues.push(...checkUpstreams(values))
  for (const key of ['tls.key', 'tls.cert']) {
    const because = key === 'tls.key' ? 'tls.cert' : 'tls.key'
    const tried = assignments.some(({ setting }) => setting.key === key)
    if (values.get(key) === null && values.get(because) !== null && !tried) {
      issues.push(issue('setting_missing', { key, because }))
    }
  }
  for (const { key, row } of allNamed(values))
    if (row.isRequired && values.get(key) === null)
      issues.push(issue('setting_required', { key, accepts: row.kind.accepts }))
  refuseErrors(issues)
  const settings = assemble(values)
  refuseErrors(checkIssuers(settings))
  return { settings, values, origins, access, kept }
}

/**
 * Returns the lines of `plimsoll settings`, without credentials in URLs. `text` is the value as in
 * `plimsoll.toml`, `origin` is `default`, `preset "private"`, or the file, variable or flag.
 */
export function describeSettings({
  values,
  origins,
}: Pick<ResolvedSettings, 'values' | 'origins'>) {
  return [...settingTable.values(), ...allNamed(values)].map(setting => {
    const { key } = setting
    const value = withoutSecrets(values.get(key) ?? null)
    const origin = origins.get(key) ?? 'default'
    const words = origin === 'preset' ? `preset "${values.get('policy.preset')}"` : origin
    const text = tomlValue(setting, value)
    return { key, value, text, origin: typeof words === 'string' ? words : words.name }
  })
}

function withoutSecrets(value: SettingValue): SettingValue {
  if (typeof value === 'string') return withoutCredentials(value)
  return Array.isArray(value) ? value.map(withoutCredentials) : value
}

function take(
  assignment: Assignment,
  values: Map<string, SettingValue>,
  origins: Map<string, Origin>,
  issues: Issue[],
): void {
  const { setting, raw, source } = assignment
  const { key, row } = setting
  const result = v.safeParse(row.kind.schema, raw)
  if (!result.success) {
    // Shows the value as written: the schema may have converted it already.
    const item = result.issues[0].path?.[0]?.key
    const shown = show(Array.isArray(raw) && typeof item === 'number' ? raw[item] : raw)
    const where = source.name
    issues.push(issue('setting_invalid', { where, key, given: shown, accepts: row.kind.accepts }))
    return
  }
  const before = origins.get(key)
  // Two variables for the same setting do not override each other.
  const isSecond =
    typeof before === 'object' && [before, source].every(origin => origin.kind === 'variable')
  if (isSecond && values.get(key) !== result.output)
    issues.push(issue('setting_twice', { key, first: before.name, second: source.name }))
  values.set(key, result.output)
  origins.set(key, source)
}

function addDefaults(values: Map<string, SettingValue>, origins: Map<string, Origin>): void {
  for (const { key, row } of [...settingTable.values(), ...allNamed(values)]) {
    if (values.has(key)) continue
    values.set(key, defaultOf(key, values))
    origins.set(key, row.private === row.public ? 'default' : 'preset')
  }
}

/** Returns the default of a setting under the preset among `values`. */
function defaultOf(key: string, values: ReadonlyMap<string, SettingValue>): SettingValue {
  const preset = values.get('policy.preset') === 'public' ? 'public' : 'private'
  return knownDefault(key, values) ?? findSetting(key)?.row[preset] ?? null
}

/** Returns the names of the sections of a kind, in the order in which they were given. */
function namesOf(kind: string, values: ReadonlyMap<string, SettingValue>): string[] {
  const parts = [...values.keys()].map(key => key.split('.'))
  const names = parts.flatMap(([first, name, end]) =>
    first === kind && name !== undefined && end !== undefined ? [name] : [],
  )
  return [...new Set(names)]
}

function allNamed(values: ReadonlyMap<string, SettingValue>) {
  return Object.keys(namedRows).flatMap(kind =>
    namesOf(kind, values).flatMap(name => namedSettings(`${kind}.${name}`)),
  )
}

function checkUpstreams(values: ReadonlyMap<string, SettingValue>): Issue[] {
  const names = namesOf('upstream', values)
  const of = (name: string, key: string) => values.get(`upstream.${name}.${key}`)
  const [first, second] = names.filter(name => of(name, 'fallback') !== 'off')
  const issues = names
    .filter(name => of(name, 'index') === null)
    .map(name => issue('upstream_index_missing', { name }))
  if (first === undefined) return issues
  if (values.get('registry.dl') !== 'auto')
    issues.push(issue('upstream_fallback_dl', { name: first }))
  if (second !== undefined) issues.push(issue('upstream_fallback_twice', { first, second }))
  return issues
}

function checkIssuers({ issuer, oidc, auth }: Settings): Issue[] {
  const twice = Object.entries({ issuer, oidc }).flatMap(([kind, sections]) => {
    const all = Object.values(sections)
    return all.flatMap(({ name: second, issuer }, at) => {
      const same = all.slice(0, at).find(other => other.issuer === issuer)
      return same ? [issue('issuer_twice', { kind, first: same.name, second })] : []
    })
  })
  const alone = auth.passwords === 'off' && Object.keys(oidc).length === 0
  return [
    ...twice,
    ...Object.values(issuer).flatMap(checkIssuer),
    ...Object.values(oidc).flatMap(checkOidc),
    ...(alone ? [issue('passwords_off_alone')] : []),
  ]
}

/** Groups the values by section. The type is correct because a schema checked each value. */
function assemble(values: ReadonlyMap<string, SettingValue>): Settings {
  const settings: Record<string, unknown> = {}
  for (const [key, { section, name }] of settingTable) {
    const value = values.get(key)
    if (section === '') settings[name] = value
    else settings[section] = { ...(settings[section] as object | undefined), [name]: value }
  }
  for (const kind of Object.keys(namedRows))
    settings[kind] = Object.fromEntries(
      namesOf(kind, values).map(section => {
        const rows = namedSettings(`${kind}.${section}`)
        const pairs = rows.map(({ key, name }) => [name, values.get(key)])
        return [section, { name: section, ...Object.fromEntries(pairs) }]
      }),
    )
  return settings as unknown as Settings
}
