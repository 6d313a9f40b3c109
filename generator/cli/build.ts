// generator/cli: A command a file: it reads arguments and prints results. The program lists them;
// rules stand elsewhere.
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { counted } from '../../core/quantity.ts'
import { followers } from '../projections/projections.ts'
import { TRIAL_BASE } from '../registry/static-settings.ts'
import { buildStatic } from '../static/build.ts'
import { cacheName, removeOldCaches } from '../static/cache.ts'
import { command, reportChecked, settingRows, type Task } from './console/command.ts'
import type { Io } from './console/io.ts'
import { looseSettings } from './console/loose-settings.ts'

interface Options {
  readonly all?: boolean
  readonly out?: string
  readonly cache?: string | boolean
  readonly skipBad?: boolean
}

export const registerBuild = command('build', {
  about: 'render what changed in the public tree, or with --from a whole tree from .crate files',
  takes: {
    ...settingRows,
    '--all': 'render everything',
    '--from <dir>':
      'build a static tree from all .crate files below DIR and its plimsoll.toml, without database',
    '--out <dir>': 'with --from: folder to write the tree to',
    '--cache <file>':
      'with --from: cache file for a faster next build; default: a file in your cache folder',
    '--no-cache': 'with --from: read and render everything, and write no cache file',
    '--skip-bad': 'with --from: leave out refused .crate files; then exit with code 1',
    '--verbose': 'with --from: print every warning, not just one of each kind',
  },
  examples: {
    'plimsoll build': 'renders what changed',
    'plimsoll build --from crates --out public --base-url https://crates.example.com':
      'renders a static tree for any web server',
  },
  json: 'an object: `crates`, how many were rendered; with `--from`, how many the tree has, and `versions`, `changed_files`, `warnings` and `refused`, arrays of texts',
  fails: 'something could not be rendered or was refused',
  async run(task: Task<Options>) {
    const { options, command } = task
    const { from, out } = options
    if ((from === undefined) !== (out === undefined))
      command.error('error: --from and --out go together')
    const alone = from === undefined ? onlyWithFrom(options) : undefined
    if (alone) command.error(`error: ${alone} goes only with --from`)
    if (from !== undefined && out !== undefined) return buildFrom(task, from, out)
    // A static build needs no registry: its code is loaded for one only.
    const { renderRegistry } = await import('./render.ts')
    await renderRegistry(task)
  },
})

function onlyWithFrom({ cache, skipBad, verbose }: Task<Options>['options']): string | undefined {
  if (cache !== undefined) return cache === false ? '--no-cache' : '--cache'
  return skipBad ? '--skip-bad' : verbose ? '--verbose' : undefined
}

async function buildFrom(task: Task<Options>, from: string, out: string): Promise<void> {
  const { io, options, progress } = task
  // V8 lets a heap grow to four times what lives in it: 180 MB here, which nobody needs.
  setFlagsFromString('--optimize-for-size')
  // A build ends soon: what V8 optimizes by its usual measure takes a fifth of the processor time.
  setFlagsFromString('--interrupt-budget=500000')
  const { settings, urls, folder } = looseSettings(task)
  if (settings.registry.base_url === null) {
    io.err(
      `warning: no base URL is set, so the tree works only at ${TRIAL_BASE}; set it with --base-url`,
    )
  }
  const cache = cachePath(io, out, options.cache ?? true)
  if (cache !== null && options.cache !== cache) await removeOldCaches(dirname(cache))
  const result = await buildStatic({
    followers,
    folder,
    from,
    out,
    settings,
    urls,
    cache,
    skipBad: options.skipBad ?? false,
    progress,
  })
  const { crates, releases, changed } = result
  reportChecked(task, result, { crates, versions: releases, changed_files: changed }, [
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
