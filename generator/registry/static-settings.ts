import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { refuse } from '../../core/error/error.ts'
import { resolveSettings, type Settings } from '../../core/settings/settings.ts'
import { type RegistryUrls, registryUrls } from '../../core/urls/urls.ts'
import { readTextSync } from '../places/disk/files.ts'
import { SETTINGS_FILE, type SettingSources } from './folder.ts'

/** The default base URL: where `npm start` would serve the tree. */
export const TRIAL_BASE = 'http://127.0.0.1:8080'

/** Returns the settings of a static build: a file in `from`, then the environment, then flags. */
export function readStaticSettings(
  from: string | null,
  sources: SettingSources,
): { settings: Settings; urls: RegistryUrls } {
  if (from !== null && !existsSync(from)) refuse('file_missing', { path: from })
  const name = from === null ? '' : join(from, SETTINGS_FILE)
  const text = from === null ? null : readTextSync(name)
  const file = text === null ? undefined : { name, text }
  const resolvePath = (path: string) => resolve(from ?? '', path)
  const { settings, origins } = resolveSettings({ file, resolvePath, ...sources })
  const api = origins.get('registry.api') === 'default' ? 'none' : settings.registry.api
  return { settings, urls: registryUrls({ ...settings.registry, api }, TRIAL_BASE) }
}
