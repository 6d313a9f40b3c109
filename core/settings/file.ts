import { stringify } from 'smol-toml'
import type { Setting, SettingKey, SettingValue } from './table.ts'
import { settingTable } from './table.ts'

const HEAD = `# Settings of this Plimsoll registry. \`plimsoll settings\` lists all keys, their values and where each comes from.
# Environment variables (PLIMSOLL_SECTION_KEY) and flags go before this file.
`

/** A value as it stands in TOML. */
export function tomlValue(setting: Setting, value: SettingValue): string {
  const shown = setting.row.kind.show(value)
  return shown === null
    ? ''
    : stringify({ key: shown })
        .trim()
        .replace(/^key = /, '')
}

/** The commented `plimsoll.toml` of a new registry; only `values` are active. */
export function renderSettingsFile(
  values: Readonly<Record<SettingKey, SettingValue | undefined>>,
): string {
  const active = new Map(
    Object.entries(values).filter(([, value]) => value !== undefined && value !== null),
  )
  const blocks = new Map<string, string[]>()
  for (const setting of settingTable.values()) {
    const value = active.get(setting.key)
    const { main } = setting.row
    if (value === undefined && !main) continue
    const lines = blocks.get(setting.section) ?? []
    blocks.set(setting.section, lines)
    if (main) lines.push(`# ${main.about}`)
    if (value !== undefined) lines.push(`${setting.name} = ${tomlValue(setting, value)}`)
    else if (main) lines.push(`# ${setting.name} = ${tomlValue(setting, main.sample)}`)
  }
  const sections = [...blocks].map(([name, lines]) =>
    [...(name === '' ? [] : [`[${name}]`]), ...lines, ''].join('\n'),
  )
  return [HEAD, ...sections].join('\n')
}
