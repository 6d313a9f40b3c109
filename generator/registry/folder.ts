import { join, resolve } from 'node:path'
import { refuse } from '../../core/error/error.ts'
import {
  type ResolvedSettings,
  resolveSettings,
  type SettingsInput,
} from '../../core/settings/settings.ts'
import { readTextSync } from '../places/disk/files.ts'
import { isTaken } from '../places/disk/steps.ts'

/** Name of the settings file in a registry folder. */
export const SETTINGS_FILE = 'plimsoll.toml'

/** Name of the database in a registry folder. */
export const DATABASE_FILE = 'plimsoll.db'

/** The sources of settings besides the file. */
export interface SettingSources extends Pick<SettingsInput, 'before'> {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly flags?: Readonly<Record<string, string | boolean | undefined>>
}

/** Returns whether a folder is a registry folder. */
export function isRegistry(dir: string): boolean {
  return isTaken(join(dir, SETTINGS_FILE))
}

/** Reads a registry's settings: file, then environment, then flags. Refuses any other folder. */
export function readSettings(dir: string, sources: SettingSources): ResolvedSettings {
  const path = join(dir, SETTINGS_FILE)
  const text = readTextSync(path) ?? refuse('not_a_registry', { dir })
  const file = { name: path, text }
  return resolveSettings({ file, resolvePath: path => resolve(dir, path), ...sources })
}
