import { relative, resolve, sep } from 'node:path'
import { refuse } from '../../core/error/error.ts'
import { isBucket } from '../../core/settings/bucket.ts'
import { changedSettings } from '../../core/settings/file.ts'
import { resolveSettings } from '../../core/settings/settings.ts'
import { requireApart } from '../places/storage.ts'
import type { SettingSources } from '../registry/folder.ts'

/** The original settings file of a backup, if the restored one differs. */
export const ORIGINAL_SETTINGS_FILE = 'plimsoll.original.toml'

/**
 * Settings that lead to places which the backed-up registry may still use, with values, as on a
 * command line, that keep the restored registry in its folder.
 */
const WITHIN: ReadonlyMap<string, string> = new Map([
  ['storage.crates', 'crates'],
  ['storage.public', 'public'],
  ['database.url', ''],
  ['git.push', ''],
  ['cdn.purge_url', ''],
])

export interface RestoredSettings {
  readonly text: string
  /** The settings of the backup that are not in `text`: they lead out of the folder. */
  readonly leftOut: readonly string[]
  readonly variables: readonly string[]
  /** The value for a command line that keeps each of them inside, by setting. */
  readonly within: Readonly<Record<string, string>>
  /** The folder for `.crate` files, relative to the registry's. */
  readonly crates: string
}

/**
 * Returns the settings for restoring a backup to `dir`, flags included, so that nothing outside of
 * it is changed. Refuses flags that lead out of it, places that overlap, and settings that this
 * version does not know.
 */
export function restoredSettings(
  dir: string,
  file: { readonly name: string; readonly text: string },
  sources: SettingSources,
): RestoredSettings {
  const isLeftOut = (key: string, value: unknown) => leadsOut(dir, key, value)
  const { leftOut, text } = changedSettings(file, isLeftOut, sources.flags)
  const { values, origins, settings } = resolveSettings({ file: { ...file, text }, ...sources })
  const variables: string[] = []
  const within: Record<string, string> = {}
  for (const [key, value] of WITHIN) {
    const origin = origins.get(key)
    if (!leadsOut(dir, key, values.get(key)) || typeof origin !== 'object') continue
    if (origin.kind === 'flag') refuse('restore_outside', { key, dir })
    variables.push(origin.name)
    within[key] = value
  }
  const places = {
    crates: within['storage.crates'] ?? settings.storage.crates,
    public: within['storage.public'] ?? settings.storage.public,
  }
  requireApart(dir, { ...settings.storage, ...places })
  const head = [
    leftOut.length > 0
      ? '# Restored from a backup, without what leads out of this folder:'
      : '# Restored from a backup, with what the command line has set.',
    ...leftOut.map(key => `#   ${key}`),
    `# ${ORIGINAL_SETTINGS_FILE} is the file as it was in the backup.`,
  ]
  return {
    text: text === file.text ? text : [...head, text].join('\n'),
    leftOut,
    variables,
    within,
    crates: relative(dir, resolve(dir, places.crates)),
  }
}

function leadsOut(dir: string, key: string, value: unknown): boolean {
  if (!WITHIN.has(key) || value === null || value === undefined) return false
  if (!key.startsWith('storage.')) return !Array.isArray(value) || value.length > 0
  const place = String(value)
  return isBucket(place) || !`${resolve(dir, place)}${sep}`.startsWith(`${dir}${sep}`)
}
