import { resolve } from 'node:path'
import type { Command } from 'commander'
import { refuse } from '../../core/error/error.ts'
import { configPath } from '../../core/paths/tree.ts'
import { parseDl } from '../../core/urls/index-config.ts'
import { baseOfDl } from '../../core/urls/urls.ts'
import { findCrates } from '../places/disk/crate-files.ts'
import type { Place } from '../places/place.ts'
import { openBucket } from '../places/storage.ts'
import { push } from '../static/push.ts'
import { openPushFolder } from '../static/push-place.ts'
import { type FolderOptions, filled, type Io, reportChecked, run, withDir } from './console/io.ts'
import { looseSettings } from './console/loose-settings.ts'
import { withManual } from './console/manual.ts'

interface Options extends FolderOptions {
  readonly to: string
  readonly verbose?: boolean
  readonly json?: boolean
}

/** `push`: adds `.crate` files to a static tree. */
export function registerPush(program: Command, io: Io): void {
  const command = withDir(program.command('push'), io)
    .description('add .crate files to a static tree in a bucket or folder, also many at once')
    .argument('<file-or-dir...>', '.crate files, or folders to search for them')
    .requiredOption(
      '--to <place>',
      'the tree: s3://BUCKET/PREFIX or a folder; new if it is empty',
      filled,
    )
    .option('--base-url <url>', 'URL at which users reach the tree')
    .option('--verbose', 'print every warning, not just one of each kind')
    .action((sources: string[], options: Options) =>
      run(io, () => pushFiles(io, sources, options, command)),
    )
  withManual(command, {
    examples: [
      [
        'plimsoll push target/package/demo-1.0.0.crate --to s3://my-site --base-url https://crates.example.com',
        'publishes from CI, without a server',
      ],
      [
        'plimsoll push crates --to www --base-url https://crates.example.com',
        'adds all files below a folder, dependencies first',
      ],
    ],
    json: 'an object: `files`, an array with an object for each file (`path`, `name`, `version`; `outcome`, `pushed` or `present`); `warnings` and `refused`, arrays of texts',
    fails: 'a file was refused; if `refused` is in the result, the files in `files` were pushed',
  })
}

async function pushFiles(
  io: Io,
  sources: readonly string[],
  options: Options,
  command: Command,
): Promise<void> {
  const { storage } = looseSettings(io, command, options).settings
  const bucket = await openBucket(options.to, storage, io.env)
  const { place: to, close } = bucket
    ? { place: bucket, close: undefined }
    : await openPushFolder(resolve(options.to))
  const { settings, urls } = await pushSettings(io, command, options, to)
  const files = (await Promise.all(sources.map(source => findCrates(source)))).flat()
  const result = await push({ files, to, settings, urls }).finally(() => close?.())
  const lines = result.files.map(({ name, version, outcome }) =>
    outcome === 'pushed' ? `pushed ${name} ${version}` : `${name} ${version} is there already`,
  )
  reportChecked(io, options, result, { files: result.files }, lines)
}

/** Returns the settings of a push; without an address, uses that of the existing tree. */
async function pushSettings(io: Io, command: Command, options: Options, to: Place) {
  const given = looseSettings(io, command, options)
  if (given.settings.registry.base_url !== null) return given
  const config = await to.read(configPath)
  const dl = config && parseDl(config.bytes.toString(), `${to.name}/${configPath}`)
  const baseUrl = dl && baseOfDl(dl)
  // The index contains the base URL, and there is no daemon whose address it could be.
  if (!baseUrl) return refuse('base_url_missing', { address: options.to })
  return looseSettings(io, command, { ...options, baseUrl })
}
