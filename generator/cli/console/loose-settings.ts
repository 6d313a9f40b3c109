import { existsSync } from 'node:fs'
import { refuse } from '../../../core/error/error.ts'
import { isRegistry } from '../../registry/folder.ts'
import { readStaticSettings } from '../../registry/static-settings.ts'
import type { Task } from './command.ts'
import { sourcesOf } from './io.ts'

/**
 * Reads the settings of a command that needs no registry: `plimsoll.toml` in `--dir` if the command
 * line has that, else the first in `--from` and the registry folder; then the environment and the
 * flags.
 */
export function looseSettings({
  io,
  command,
  options,
}: Task): ReturnType<typeof readStaticSettings> {
  const { dir, from } = options
  const isNamed = command.getOptionValueSource('dir') !== 'default'
  const isWanted = isNamed || (from === undefined && Boolean(io.env.PLIMSOLL_DIR))
  if (isWanted && !existsSync(dir)) refuse('file_missing', { path: dir })
  const folders = isNamed || from === undefined ? [dir] : [from, dir]
  return readStaticSettings(folders.find(isRegistry) ?? null, sourcesOf(io, options))
}
