// core/settings: Every setting, its sources and its meaning. Commands and the daemon call it; it
// never reads a file.
import * as v from 'valibot'
import { type Issue, issue, refuseErrors } from '../error/error.ts'
import { withoutCredentials } from '../urls/urls.ts'
import { type AccessRecord, accessRecord, keepAccess } from './access.ts'
import { tomlValue } from './file.ts'
import { checkIssuer, type IssuerSettings, issuerDefault } from './issuer.ts'
import { file, fileOrNone, type SettingValue, type Values } from './kind.ts'
import { namedRows } from './named.ts'
import { checkOidc, type OidcSettings } from './oidc.ts'
import { findSetting, namedSettings, type sections, settingTable, type topRows } from './schema.ts'
import type { Assignment, Environment, Origin, SettingsFile } from './source.ts'
import { fromEnvironment, fromFile, fromFlags, show } from './source.ts'
import { type UpstreamSettings, upstreamDefault } from './upstream.ts'
import { checkWebhook, type WebhookSettings } from './webhook.ts'

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
  for (const [key, value] of input.resolvePath ? values : []) {
    const accepts = findSetting(key)?.row.kind.accepts ?? ''
    const isFile = [file.accepts, fileOrNone.accepts].includes(accepts) && value !== ''
    if (isFile && typeof value === 'string') values.set(key, input.resolvePath?.(value) ?? value)
  }
  issues.push(...checkUpstreams(values))
  issues.push(...checkOidc(namesOf('oidc', values), key => values.get(key)))
  const names = namesOf('issuer', values)
  for (const [at, name] of names.entries()) {
    const of = (key: string) => values.get(`issuer.${name}.${key}`) ?? null
    const isSame = (other: string) => values.get(`issuer.${other}.issuer`) === of('issuer')
    const first = names.slice(0, at).find(isSame)
    issues.push(...checkIssuer(name, of))
    if (first !== undefined && of('issuer') !== null)
      issues.push(issue('issuer_twice', { first, second: name }))
  }
  for (const name of namesOf('webhook', values))
    issues.push(...checkWebhook(name, key => values.get(`webhook.${name}.${key}`) ?? null))
  for (const key of ['tls.key', 'tls.cert']) {
    const because = key === 'tls.key' ? 'tls.cert' : 'tls.key'
    const tried = assignments.some(({ setting }) => setting.key === key)
    if (values.get(key) === null && values.get(because) !== null && !tried) {
      issues.push(issue('setting_missing', { key, because }))
    }
  }
  refuseErrors(issues)
  return { settings: assemble(values), values, origins, access, kept }
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
  const [, kind, section = '', name = ''] = /^([^.]+)\.([^.]+)\.([^.]+)$/.exec(key) ?? []
  if (kind === 'issuer') return issuerDefault(section, name)
  if (kind === 'upstream')
    return upstreamDefault(section, name, values.get(`upstream.${section}.index`))
  return findSetting(key)?.row[preset] ?? null
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
