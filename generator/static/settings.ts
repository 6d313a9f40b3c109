import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { refuse } from '../../core/error/error.ts'
import { resolveSettings, type Settings } from '../../core/settings/settings.ts'
import { type RegistryUrls, registryUrls } from '../../core/urls.ts'
import { SETTINGS_FILE, type SettingSources } from '../registry.ts'

/** Where `npm start` would serve a tree that has no base URL. */
export const TRIAL_BASE = 'http://127.0.0.1:8080'

/**
 * The settings of a static build: the `plimsoll.toml` in `from`, if any, then environment, then
 * flags. A static tree has no web API unless one is named.
 */
export function readStaticSettings(
  from: string,
  sources: SettingSources,
): { settings: Settings; urls: RegistryUrls } {
  if (!existsSync(from)) refuse('file_missing', { path: from })
  const path = join(from, SETTINGS_FILE)
  const file = existsSync(path) ? { name: path, text: readFileSync(path, 'utf8') } : undefined
  const { settings, origins } = resolveSettings({ file, ...sources })
  const api = origins.get('registry.api') === 'default' ? 'none' : settings.registry.api
  return { settings, urls: registryUrls({ ...settings.registry, api }, TRIAL_BASE) }
}
