import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Command } from 'commander'
import { counted } from '../../core/quantity.ts'
import { buildStatic } from '../static/build.ts'
import { cacheName, removeOldCaches } from '../static/cache.ts'
import { TRIAL_BASE } from '../static/settings.ts'
import {
  type FolderOptions,
  type Io,
  localPath,
  reportChecked,
  run,
  withDir,
  withSettingFlags,
} from './console/io.ts'
import { looseSettings } from './console/loose-settings.ts'
import { withManual } from './console/manual.ts'
import { progressLine } from './console/progress.ts'

interface Options extends FolderOptions {
  readonly all?: boolean
  readonly from?: string
  readonly out?: string
  readonly cache?: string | boolean
  readonly skipBad?: boolean
  readonly verbose?: boolean
  readonly json?: boolean
}

/** `build`: renders the public tree from the catalog, or a static tree from `.crate` files. */
export function registerBuild(program: Command, io: Io): void {
  const command = withSettingFlags(withDir(program.command('build'), io))
    .description(
      'render what changed in the public tree, or with --from a whole tree from .crate files',
    )
    .option('--all', 'render everything')
    .option(
      '--from <dir>',
      'build a static tree from all .crate files below DIR and its plimsoll.toml, without database',
      localPath,
    )
    .option('--out <dir>', 'with --from: folder to write the tree to', localPath)
    .option(
      '--cache <file>',
      'with --from: cache file for a faster next build; default: a file in your cache folder',
      localPath,
    )
    .option('--no-cache', 'with --from: read and render everything, and write no cache file')
    .option('--skip-bad', 'with --from: leave out refused .crate files; then exit with code 1')
    .option('--verbose', 'with --from: print every warning, not just one of each kind')
    .action(async (options: Options, command: Command) => {
      const { from, out } = options
      if ((from === undefined) !== (out === undefined))
        command.error('error: --from and --out go together')
      const alone = from === undefined ? onlyWithFrom(options) : undefined
      if (alone) command.error(`error: ${alone} goes only with --from`)
      if (from !== undefined && out !== undefined)
        await run(io, () => buildFrom(io, from, out, options, command))
      else {
        // A static build needs no registry: its code is loaded for one only.
        const { renderRegistry } = await import('./render.ts')
        await renderRegistry(io, options)
      }
    })
  withManual(command, {
    examples: [
      ['plimsoll build', 'renders what changed'],
      [
        'plimsoll build --from crates --out public --base-url https://crates.example.com',
        'renders a static tree for any web server',
      ],
    ],
    json: 'an object: `crates`, how many were rendered; with `--from`, how many the tree has, and `versions`, `changed_files`, `warnings` and `refused`, arrays of texts',
    fails: 'something could not be rendered or was refused',
  })
}

/** Returns an option that was given and has no effect on the tree of a registry. */
function onlyWithFrom({ cache, skipBad, verbose }: Options): string | undefined {
  if (cache !== undefined) return cache === false ? '--no-cache' : '--cache'
  return skipBad ? '--skip-bad' : verbose ? '--verbose' : undefined
}

async function buildFrom(
  io: Io,
  from: string,
  out: string,
  options: Options,
  command: Command,
): Promise<void> {
  const { settings, urls } = looseSettings(io, command, options)
  if (settings.registry.base_url === null) {
    io.err(
      `warning: no base URL is set, so the tree works only at ${TRIAL_BASE}; set it with --base-url`,
    )
  }
  const progress = progressLine(io)
  const cache = cachePath(io, out, options.cache ?? true)
  if (cache !== null && options.cache !== cache) await removeOldCaches(dirname(cache))
  const result = await buildStatic({
    from,
    out,
    settings,
    urls,
    cache,
    skipBad: options.skipBad ?? false,
    progress: progress.at,
  })
  progress.done()
  const { crates, releases, changed } = result
  reportChecked(io, options, result, { crates, versions: releases, changed_files: changed }, [
    `${counted(releases, 'version')} of ${counted(crates, 'crate')}; ${counted(changed, 'file')} changed in ${out}`,
  ])
}

/** Returns the cache file of an output folder, in the user's cache folder; null for none. */
function cachePath({ env }: Io, out: string, option: string | boolean): string | null {
  if (option !== true) return option || null
  const folder =
    env.XDG_CACHE_HOME ||
    (process.platform === 'win32' && env.LOCALAPPDATA) ||
    join(homedir(), ...(process.platform === 'darwin' ? ['Library', 'Caches'] : ['.cache']))
  return join(folder, 'plimsoll', cacheName(out))
}
