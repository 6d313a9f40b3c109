import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import { refuse } from '../../../core/error/error.ts'
import { isRegistry, openRegistry, type Registry } from '../../registry/registry.ts'
import { readStaticSettings } from '../../static/settings.ts'
import { type FolderOptions, flagsOf, type Io, run } from './io.ts'
import { progressLine } from './progress.ts'

type Work = (registry: Registry) => Promise<void>

/**
 * Runs `work` with the registry folder open, and closes it in any case. `forMove`: also if its
 * records were moved.
 */
export function withRegistry(
  io: Io,
  options: FolderOptions,
  work: Work,
  forMove = false,
): Promise<void> {
  return withFolder(io, options, work, false, forMove)
}

/** Like `withRegistry`, for work that only reads: refuses records of an older version. */
export function readRegistry(io: Io, options: FolderOptions, work: Work): Promise<void> {
  return withFolder(io, options, work, true)
}

async function withFolder(
  io: Io,
  options: FolderOptions,
  work: Work,
  reads: boolean,
  forMove = false,
): Promise<void> {
  await run(io, async () => {
    const progress = progressLine(io)
    const [flags, onUpgrade] = [flagsOf(options), io.err]
    const sources = { env: io.env, flags, program: io.program, reads, onUpgrade }
    const registry = await openRegistry(options.dir, sources, undefined, progress.at, forMove)
    progress.done()
    try {
      await work(registry)
    } finally {
      await registry.close()
    }
  })
}

/**
 * Reads the settings of a command that needs no registry: `plimsoll.toml` in `--dir` if the command
 * line has that, else the first in `--from` and the registry folder; then the environment and the
 * flags.
 */
export function looseSettings(
  { env }: Io,
  command: Command,
  options: FolderOptions & { readonly from?: string },
): ReturnType<typeof readStaticSettings> {
  const { dir, from } = options
  const isNamed = command.getOptionValueSource('dir') !== 'default'
  const isWanted = isNamed || (from === undefined && Boolean(env.PLIMSOLL_DIR))
  if (isWanted && !existsSync(dir)) refuse('file_missing', { path: dir })
  const folders = isNamed || from === undefined ? [dir] : [from, dir]
  return readStaticSettings(folders.find(isRegistry) ?? null, { env, flags: flagsOf(options) })
}
