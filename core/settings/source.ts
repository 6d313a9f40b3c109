import { parse, TomlError } from 'smol-toml'
import { type Issue, issue } from '../error/error.ts'
import { nearest } from './suggestion.ts'
import type { Setting, SettingKey } from './table.ts'
import { settingByVariable, settingTable } from './table.ts'

/** Where a value was set. */
export type SettingSource =
  | { readonly file: string }
  | { readonly variable: string }
  | { readonly flag: string }

/** A value as it was found, not yet checked. */
export interface Given {
  readonly setting: Setting
  readonly raw: unknown
  readonly source: SettingSource
}

/** Variables with our prefix that are not settings. */
const OTHER_VARIABLES = [
  'PLIMSOLL_DIR',
  'PLIMSOLL_IMPORT_TOKEN',
  'PLIMSOLL_CARGO',
  'PLIMSOLL_NODEGIT_CACHE',
  'PLIMSOLL_REQUIRE_NODEGIT',
]

/** The settings that have flags of their own; all others are set by `--set KEY=VALUE`. */
const FLAGS: ReadonlyMap<SettingKey, string> = new Map([
  ['registry.base_url', '--base-url'],
  ['registry.api', '--api'],
  ['server.listen', '--listen'],
])

/** Name of a source in messages. */
export function sourceName(source: SettingSource): string {
  if ('file' in source) return source.file
  return 'variable' in source ? source.variable : source.flag
}

/** The settings in `plimsoll.toml`; none when it has a syntax error. */
export function fromFile(
  file: { readonly name: string; readonly text: string },
  issues: Issue[],
): Given[] {
  const given: Given[] = []
  const found = (setting: Setting, raw: unknown) =>
    given.push({ setting, raw, source: { file: file.name } })
  const unknown = (key: string, accepted: readonly string[]) =>
    issues.push(
      issue('setting_unknown', { where: file.name, key, suggestion: suggestKey(key), accepted }),
    )
  for (const [name, value] of Object.entries(parseToml(file, issues))) {
    const top = settingTable.get(name)
    const keys = keysOf(name)
    if (top?.section === '') found(top, value)
    else if (keys.length === 0)
      unknown(name, [...keysOf(''), ...sectionNames().map(section => `[${section}]`)])
    else if (!isTable(value)) {
      issues.push(
        issue('setting_invalid', {
          where: file.name,
          key: name,
          given: show(value),
          accepts: `a section [${name}]`,
        }),
      )
    } else {
      for (const [key, raw] of Object.entries(value)) {
        const setting = settingTable.get(`${name}.${key}`)
        if (setting) found(setting, raw)
        else unknown(`${name}.${key}`, keys)
      }
    }
  }
  return given
}

/** What the environment sets. */
export function fromEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  issues: Issue[],
): Given[] {
  const given: Given[] = []
  for (const [variable, text] of Object.entries(env).sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (
      !variable.startsWith('PLIMSOLL_') ||
      OTHER_VARIABLES.includes(variable) ||
      text === undefined
    )
      continue
    const setting = settingByVariable.get(variable)
    if (setting) {
      given.push({ setting, raw: setting.row.kind.fromText(text), source: { variable } })
    } else {
      const names = [...settingByVariable.keys(), ...OTHER_VARIABLES]
      const section = sectionNames().find(name =>
        variable.startsWith(`PLIMSOLL_${name.toUpperCase()}_`),
      )
      const accepted = section
        ? names.filter(name => settingByVariable.get(name)?.section === section)
        : ['PLIMSOLL_SECTION_KEY for every setting', 'PLIMSOLL_DIR', 'PLIMSOLL_LISTEN']
      const suggestion = nearest(variable, names, 'PLIMSOLL_')
      issues.push(
        issue('setting_unknown', { where: 'environment', key: variable, suggestion, accepted }),
      )
    }
  }
  return given
}

/** What the command line sets. */
export function fromFlags(
  flags: Readonly<Record<SettingKey, string | boolean | undefined>>,
  issues: Issue[],
): Given[] {
  return Object.entries(flags).flatMap(([key, value]): Given[] => {
    if (value === undefined) return []
    const setting = settingTable.get(key)
    const flag = FLAGS.get(key) ?? `--set ${key}`
    if (setting) {
      const raw = typeof value === 'string' ? setting.row.kind.fromText(value) : value
      return [{ setting, raw, source: { flag } }]
    }
    issues.push(
      issue('setting_unknown', {
        where: flag,
        key,
        suggestion: suggestKey(key),
        accepted: [...settingTable.keys()],
      }),
    )
    return []
  })
}

/** A value in a message: one short line without credentials. */
export function show(raw: unknown): string {
  const whole = typeof raw === 'number' ? String(raw) : (JSON.stringify(raw) ?? String(raw))
  // Up to the last @: in a malformed URL, the end of the password is unknown.
  const words = whole.replace(/:\/\/.*@/s, '://…@')
  return words.length > 80 ? `${words.slice(0, 79)}…` : words
}

function parseToml(
  file: { readonly name: string; readonly text: string },
  issues: Issue[],
): object {
  try {
    return parse(file.text.replace(/^\uFEFF/, ''))
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const problem = (error.message.split('\n')[0] ?? '').replace(/^Invalid TOML document: /, '')
    issues.push(
      issue('settings_syntax', {
        file: file.name,
        line: error.line,
        column: error.column,
        problem,
      }),
    )
    return {}
  }
}

function keysOf(section: string): string[] {
  return [...settingTable.values()].filter(one => one.section === section).map(one => one.name)
}

function sectionNames(): string[] {
  return [...new Set([...settingTable.values()].map(one => one.section))].filter(
    name => name !== '',
  )
}

/** The setting probably meant: the same key in another section, else the nearest spelling. */
function suggestKey(key: string): string | null {
  const name = key.slice(key.lastIndexOf('.') + 1)
  const elsewhere = [...settingTable.values()].filter(one => one.name === name)
  if (elsewhere.length === 1) return elsewhere[0]?.key ?? null
  return nearest(key, [...settingTable.keys(), ...sectionNames()])
}

function isTable(value: unknown): value is object {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
  )
}
