import { stringify } from 'smol-toml'
import { type Issue, refuseErrors } from '../error/error.ts'
import { inUnits } from '../quantity.ts'
import type { SettingValue } from './kind.ts'
import { findSetting, type Setting, settingTable } from './schema.ts'
import {
  type Assignment,
  fromFile,
  fromFlags,
  type SettingFlags,
  type SettingsFile,
} from './source.ts'

const HEAD = `# Settings of this Plimsoll registry. \`plimsoll settings\` lists all keys, their values and where each comes from.
# Environment variables (PLIMSOLL_SECTION_KEY) and flags override this file.
`

/** The settings that a new `plimsoll.toml` explains. */
const MAIN: ReadonlySet<string> = new Set(
  (
    'registry.base_url registry.api registry.name registry.title server.listen ' +
    'auth.required limits.crate_bytes policy.preset'
  ).split(' '),
)

/** Renders a value as TOML; empty for null. */
export function tomlValue({ row }: Setting, value: SettingValue): string {
  const { units } = row.kind
  if (value === null) return ''
  return stringify({ key: units && typeof value === 'number' ? inUnits(value, units) : value })
    .trim()
    .replace(/^key = /, '')
}

/** Renders the `plimsoll.toml` of a new registry with these settings, which were checked. */
export function renderNewSettings(flags: SettingFlags): string {
  return renderSettingsFile(valuesOf(fromFlags(flags, [])))
}

function valuesOf(assignments: readonly Assignment[]): Record<string, SettingValue> {
  const pairs = assignments.map(({ setting, raw }) => [setting.key, raw])
  return Object.fromEntries(pairs) as Record<string, SettingValue>
}

/** Renders the commented `plimsoll.toml` of a registry; only `values` are active. */
export function renderSettingsFile(values: Readonly<Record<string, SettingValue | undefined>>) {
  const active = new Map(Object.entries(values))
  const blocks = new Map<string, string[]>()
  const named = [...active.keys()].filter(key => !settingTable.has(key)).map(findSetting)
  for (const setting of [...settingTable.values(), ...named.filter(each => !!each)]) {
    const value = active.get(setting.key) ?? null
    const isMain = MAIN.has(setting.key)
    if (value === null && !isMain) continue
    const lines = blocks.get(setting.section) ?? []
    blocks.set(setting.section, lines)
    if (isMain) lines.push(`# ${setting.row.meaning}`)
    const sample = setting.row.private ?? 'https://crates.example.com'
    const mark = value === null ? '# ' : ''
    lines.push(`${mark}${setting.name} = ${tomlValue(setting, value ?? sample)}`)
  }
  const sections = [...blocks].map(([name, lines]) =>
    [...(name === '' ? [] : [`[${name}]`]), ...lines, ''].join('\n'),
  )
  return [HEAD, ...sections].join('\n')
}

/**
 * Returns the keys in a settings file that are not known or that `isLeftOut` chooses, and the text
 * of one without them and with `flags`: the same if there are neither, else written anew, without
 * comments and defaults that it had. Refuses a file that is no TOML, and unknown flags.
 */
export function changedSettings(
  file: SettingsFile,
  isLeftOut: (key: string, value: unknown) => boolean,
  flags: SettingFlags = {},
): { readonly leftOut: readonly string[]; readonly text: string } {
  const issues: Issue[] = []
  const unknown: string[] = []
  const inFile = fromFile(file, issues, unknown)
  const set = fromFlags(flags, issues)
  refuseErrors(issues)
  const chosen = inFile.filter(({ setting, raw }) => isLeftOut(setting.key, raw))
  const leftOut = [...unknown, ...chosen.map(({ setting }) => setting.key)]
  if (leftOut.length === 0 && set.length === 0) return { leftOut, text: file.text }
  const kept = inFile.filter(({ setting }) => !leftOut.includes(setting.key))
  return { leftOut, text: renderSettingsFile(valuesOf([...kept, ...set])) }
}
