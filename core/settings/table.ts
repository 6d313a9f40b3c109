import type { Row } from './row.ts'
import { sections, topRows } from './schema.ts'

/** `section.key`, or `key` outside of any section. */
export type SettingKey = string

/** What a setting may hold. */
export type SettingValue = string | number | boolean | null | readonly string[]

/** A setting of any kind with its section. */
export interface Setting {
  readonly key: SettingKey
  /** Empty outside of any section. */
  readonly section: string
  readonly name: string
  readonly variable: string
  readonly row: Row<SettingValue>
}

/** Every setting by its key, in the order of the reference. */
export const settingTable: ReadonlyMap<SettingKey, Setting> = new Map(
  [
    ...settingsOf('', topRows),
    ...Object.entries(sections).flatMap(([name, rows]) => settingsOf(name, rows)),
  ].map(setting => [setting.key, setting]),
)

/** The settings by environment variable; `PLIMSOLL_LISTEN` is an alias. */
export const settingByVariable: ReadonlyMap<string, Setting> = new Map(
  [...settingTable.values()].flatMap(setting => [
    ...(setting.key === 'server.listen' ? [['PLIMSOLL_LISTEN', setting] as const] : []),
    [setting.variable, setting] as const,
  ]),
)

function settingsOf(section: string, rows: object): Setting[] {
  return Object.entries(rows).map(([name, row]: [string, Row<SettingValue>]) => {
    const path = section === '' ? [name] : [section, name]
    return {
      key: path.join('.'),
      section,
      name,
      variable: ['PLIMSOLL', ...path].join('_').toUpperCase(),
      row,
    }
  })
}
