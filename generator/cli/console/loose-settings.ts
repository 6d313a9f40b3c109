import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { refuse } from '../../../core/error/error.ts'
import { isRegistry, SETTINGS_FILE } from '../../registry/folder.ts'
import { readStaticSettings } from '../../registry/static-settings.ts'
import type { Task } from './command.ts'
import { sourcesOf } from './io.ts'

/**
 * Reads the settings of a command that needs no registry: `plimsoll.toml` in `--dir` if the command
 * line has that, else the first in `--from` and the registry folder; then the environment and the
 * flags. Says which, if the command line does not.
 */
export function looseSettings(
  { io, command, options }: Task,
  isTold = true,
): ReturnType<typeof readStaticSettings> & { readonly folder: string | null } {
  const { dir, from } = options
  const isNamed = command.getOptionValueSource('dir') !== 'default'
  if (isNamed && !existsSync(dir)) refuse('file_missing', { path: dir })
  const folders = isNamed || from === undefined ? [dir] : [from, dir]
  const folder = folders.find(isRegistry) ?? null
  const where = folder === null ? 'no plimsoll.toml' : join(folder, SETTINGS_FILE)
  // Nobody has named it here.
  if (isTold && !isNamed && (folder === dir || io.env.PLIMSOLL_DIR))
    io.err(`settings: ${where}, the environment and the command line`)
  return { ...readStaticSettings(folder, sourcesOf(io, options)), folder }
}
