import * as v from 'valibot'
import { type Issue, issue } from '../error/error.ts'
import { typosBetween } from '../search/similar.ts'
import { isTable, parseToml } from '../toml.ts'
import type { Kind, SettingValue } from './kind.ts'
import { knownDefault, namedRows } from './named.ts'
import { conditionList } from './oidc.ts'
import {
  findSetting,
  findVariable,
  type Setting,
  settingByVariable,
  settingTable,
} from './schema.ts'
import { isUpstreamName, UPSTREAM_NAME_FORM } from './upstream.ts'

export interface SettingSource {
  readonly kind: 'file' | 'variable' | 'flag' | 'records'
  readonly name: string
}

export type Origin = 'default' | 'preset' | SettingSource

export interface Assignment {
  readonly setting: Setting
  readonly raw: unknown
  readonly source: SettingSource
}

const OTHER_VARIABLES = ['PLIMSOLL_DIR', 'PLIMSOLL_IMPORT_TOKEN']
const OF_TESTS = /^PLIMSOLL_(?:CARGO$|NODEGIT_CACHE$|REQUIRE_|TEST_)/

/** The settings that have a flag; `--set KEY=VALUE` sets the others. */
const FLAGS: ReadonlyMap<string, string> = new Map([
  ['registry.base_url', '--base-url'],
  ['registry.api', '--api'],
  ['server.listen', '--listen'],
])

export interface SettingsFile {
  readonly name: string
  readonly text: string
}

export type Environment = Readonly<Record<string, string | undefined>>

/** Reads `plimsoll.toml`, if it is TOML; unknown keys are put into `left`, or are issues. */
export function fromFile(file: SettingsFile, issues: Issue[], left?: string[]): Assignment[] {
  const source: SettingSource = { kind: 'file', name: file.name }
  const assignments: Assignment[] = []
  const take = (section: string, name: string, raw: unknown) => {
    const key = section === '' ? name : `${section}.${name}`
    const setting = findSetting(key)
    if (setting) assignments.push({ setting, raw, source })
    else if (left) left.push(key)
    else issues.push(unknown(file.name, key, suggestKey(key), keysOf(section)))
  }
  const invalid = (key: string, value: unknown, accepts: string) => {
    const where = file.name
    issues.push(issue('setting_invalid', { where, key, given: show(value), accepts }))
  }
  const takeNamed = (kind: string, name: string, rows: unknown) => {
    const section = `${kind}.${name}`
    if (!isUpstreamName(name)) return invalid(section, name, UPSTREAM_NAME_FORM)
    if (!isTable(rows)) return invalid(section, rows, `a section [${section}]`)
    // The section alone is enough where its address is known, and else lacks it.
    const [address = ''] = Object.keys(namedRows[kind] ?? {})
    const known = knownDefault(`${section}.${address}`) ?? null
    for (const [key, raw] of Object.entries({ [address]: known, ...rows }))
      take(section, key, kind === 'oidc' && key === 'require' ? conditionList(raw) : raw)
  }
  const document = parseToml(file.text, (problem, { line, column }) => {
    issues.push(issue('settings_syntax', { file: file.name, line, column, problem }))
    return {}
  })
  for (const [name, value] of Object.entries(document)) {
    const isNamed = Object.hasOwn(namedRows, name)
    if (!isNamed && !sectionNames().includes(name)) take('', name, withoutTables(value))
    else if (!isTable(value)) invalid(name, value, `a section [${isNamed ? `${name}.NAME` : name}]`)
    else if (isNamed) for (const [key, rows] of Object.entries(value)) takeNamed(name, key, rows)
    else for (const [key, raw] of Object.entries(value)) take(name, key, raw)
  }
  return assignments
}

/** Returns a list with its tables as JSON: the lists of this program are of texts. */
function withoutTables(value: unknown): unknown {
  if (!Array.isArray(value)) return value
  return value.map(item => (isTable(item) ? JSON.stringify(item) : item))
}

/** Reads the settings in environment variables. */
export function fromEnvironment(env: Environment, issues: Issue[]): Assignment[] {
  const assignments: Assignment[] = []
  for (const [variable, text] of Object.entries(env).sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (!variable.startsWith('PLIMSOLL_') || OF_TESTS.test(variable)) continue
    if (OTHER_VARIABLES.includes(variable)) continue
    const setting = findVariable(variable)
    if (text === undefined) continue
    if (setting) {
      const source: SettingSource = { kind: 'variable', name: variable }
      assignments.push({ setting, raw: fromText(setting.row.kind, text), source })
      continue
    }
    const names = [...settingByVariable.keys(), ...OTHER_VARIABLES]
    const section = sectionNames().find(name =>
      variable.startsWith(`PLIMSOLL_${name.toUpperCase()}_`),
    )
    const accepted = section
      ? names.filter(name => settingByVariable.get(name)?.section === section)
      : ['PLIMSOLL_SECTION_KEY for every setting', 'PLIMSOLL_DIR', 'PLIMSOLL_LISTEN']
    issues.push(unknown('environment', variable, nearest(variable, names, 'PLIMSOLL_'), accepted))
  }
  return assignments
}

export type SettingFlags = Readonly<Record<string, string | boolean | undefined>>

/** Reads the settings on the command line. */
export function fromFlags(flags: SettingFlags, issues: Issue[]): Assignment[] {
  return Object.entries(flags).flatMap(([key, value]): Assignment[] => {
    if (value === undefined) return []
    const setting = findSetting(key)
    const flag = FLAGS.get(key) ?? `--set ${key}`
    if (setting) {
      const raw = typeof value === 'string' ? fromText(setting.row.kind, value) : value
      return [{ setting, raw, source: { kind: 'flag', name: flag } }]
    }
    issues.push(unknown(flag, key, suggestKey(key), [...settingTable.keys()]))
    return []
  })
}

/** Converts the text of a variable or flag to the type in the file; commas separate list items. */
export function fromText({ schema }: Kind<SettingValue>, text: string): unknown {
  if (v.is(schema, [])) {
    const items = text.split(',').map(item => item.trim())
    return items.filter(item => item !== '')
  }
  const words: Readonly<Record<string, unknown>> = { '': null, true: true, false: false }
  const word = Object.hasOwn(words, text) ? words[text] : text
  const number = /^[0-9]{1,15}$/.test(text) ? Number(text) : text
  const reading = [word, text, number].find(value => v.is(schema, value))
  return reading === undefined ? text : reading
}

function unknown(
  where: string,
  key: string,
  suggestion: string | null,
  accepted: readonly string[],
): Issue {
  return issue('setting_unknown', { where, key, suggestion, accepted })
}

/** Renders a value for a message: one short line without credentials. */
export function show(raw: unknown): string {
  const whole = typeof raw === 'number' ? String(raw) : (JSON.stringify(raw) ?? String(raw))
  // Hides all up to the last @, because in a malformed URL the password may contain one.
  const words = whole.replace(/:\/\/.*@/s, '://…@').replace(/(password=)[^&"]*/gi, '$1…')
  return words.length > 80 ? `${words.slice(0, 79)}…` : words
}

/** Returns the keys that a section accepts; outside any section, also the names of the sections. */
function keysOf(section: string): string[] {
  const named = namedRows[section.slice(0, Math.max(0, section.indexOf('.')))]
  if (named) return Object.keys(named)
  const own = [...settingTable.values()].filter(setting => setting.section === section)
  const keys = own.map(setting => setting.name)
  const kinds = Object.keys(namedRows).map(kind => `${kind}.NAME`)
  const sections = [...sectionNames(), ...kinds].map(name => `[${name}]`)
  return section === '' ? [...keys, ...sections] : keys
}

function sectionNames(): string[] {
  return [...new Set([...settingTable.values()].map(setting => setting.section))].filter(
    name => name !== '',
  )
}

/** Suggests a setting: the same key in another section, or else the most similar key. */
function suggestKey(key: string): string | null {
  const name = key.slice(key.lastIndexOf('.') + 1)
  const elsewhere = [...settingTable.values()].filter(setting => setting.name === name)
  if (elsewhere.length === 1) return elsewhere[0]?.key ?? null
  return nearest(key, [...settingTable.keys(), ...sectionNames()])
}

/** Returns the nearest candidate within three typos; fewer if `text` without `start` is short. */
function nearest(text: string, candidates: readonly string[], start = ''): string | null {
  if (text.length > 64) return null
  let best: string | null = null
  let most = Math.min(3, Math.max(1, Math.floor((text.length - start.length) / 3)))
  for (const candidate of candidates) {
    const typos = typosBetween(text.toLowerCase(), candidate.toLowerCase(), most)
    if (typos > most) continue
    best = candidate
    most = typos - 1
  }
  return best
}
