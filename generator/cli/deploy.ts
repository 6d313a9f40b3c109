import { resolve } from 'node:path'
import type { Command } from 'commander'
import { refuse } from '../../core/error/error.ts'
import { configPath } from '../../core/paths/tree.ts'
import { counted, formatBytes } from '../../core/quantity.ts'
import { isBucket } from '../../core/settings/bucket.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { ownDl } from '../../core/urls/dl-template.ts'
import { baseOfDl } from '../../core/urls/urls.ts'
import { deploy } from '../deploy/deploy.ts'
import { parseDl } from '../import/source/config.ts'
import { findCrates } from '../places/disk/crate-files.ts'
import { isInside } from '../places/disk/files.ts'
import { FolderPlace } from '../places/folder-place.ts'
import type { Place } from '../places/place.ts'
import { openBucket } from '../places/storage.ts'
import { isRegistry } from '../registry/registry.ts'
import { push } from '../static/push.ts'
import { openPushFolder } from '../static/push-place.ts'
import { looseSettings } from './console/folder.ts'
import {
  Exit,
  type FolderOptions,
  filled,
  type Io,
  localPath,
  printIssues,
  printWarnings,
  report,
  run,
  withDir,
} from './console/io.ts'
import { withManual } from './console/manual.ts'
import { progressLine } from './console/progress.ts'

interface Options extends FolderOptions {
  readonly to: string
  readonly from?: string
  readonly delete?: boolean
  readonly pages?: boolean
  readonly dryRun?: boolean
  readonly json?: boolean
}

interface PushOptions extends FolderOptions {
  readonly to: string
  readonly verbose?: boolean
  readonly json?: boolean
}

/** `deploy`: uploads a public tree to a bucket or another folder. */
export function registerDeploy(program: Command, io: Io): void {
  const command = withDir(program.command('deploy'), io)
    .description('upload a public tree to a bucket or folder: only what changed, the index last')
    .requiredOption('--to <place>', 'where to: s3://BUCKET/PREFIX or a folder', filled)
    .option(
      '--from <dir>',
      'the tree, such as of `build --out`; default: that of the registry',
      localPath,
    )
    .option('--delete', 'remove files of a tree there that this one does not have')
    .option(
      '--pages',
      'leave index and .crate files there as they are, for a tree that `push` adds to',
    )
    .option('--dry-run', 'change nothing, print what would be uploaded and removed')
    .action((options: Options) => run(io, () => deployTree(io, options, command)))
  withManual(command, {
    examples: [
      ['plimsoll deploy --from public --to s3://my-site', 'uploads a static tree'],
      ['plimsoll deploy --from public --to /srv/www --dry-run', 'shows what would change'],
    ],
    json: 'an object: `uploaded` and `removed`, arrays of paths; `unchanged`, `surplus` (files that only the target has) and `bytes`, numbers; `foreign`, the paths of those that no tree has, which stay',
    fails: 'the target cannot be written to',
  })
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
    .action((sources: string[], options: PushOptions) =>
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
  options: PushOptions,
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
  printWarnings(io, result.warnings, options.verbose ?? false)
  printIssues(io, result.refused)
  const [warnings, refused] = [result.warnings, result.refused].map(all =>
    all.map(issue => issue.message),
  )
  report(
    io,
    options,
    { files: result.files, warnings, refused },
    result.files.map(({ name, version, outcome }) =>
      outcome === 'pushed' ? `pushed ${name} ${version}` : `${name} ${version} is there already`,
    ),
  )
  if (result.refused.length > 0) throw new Exit(1)
}

/** Returns the settings of a push; without an address, uses that of the existing tree. */
async function pushSettings(io: Io, command: Command, options: PushOptions, to: Place) {
  const given = looseSettings(io, command, options)
  if (given.settings.registry.base_url !== null) return given
  const config = await to.read(configPath)
  const dl = config && parseDl(config.bytes.toString(), `${to.name}/${configPath}`)
  const baseUrl = dl && baseOfDl(dl)
  // The index contains the base URL, and there is no daemon whose address it could be.
  if (!baseUrl) return refuse('base_url_missing', { address: options.to })
  return looseSettings(io, command, { ...options, baseUrl })
}

async function deployTree(io: Io, options: Options, command: Command): Promise<void> {
  const { dir, dryRun = false } = options
  if (options.from === undefined && !isRegistry(dir)) refuse('not_a_registry', { dir })
  const { settings, urls } = looseSettings(io, command, options)
  const folder = isBucket(settings.storage.public) ? 'public' : settings.storage.public
  const from = resolve(options.from ?? resolve(dir, folder))
  const progress = progressLine(io)
  const result = await deploy({
    from,
    to: await openTarget(options.to, from, settings.storage, io),
    removes: options.delete ?? false,
    isPagesOnly: options.pages ?? false,
    isTrial: dryRun,
    dl: ownDl(urls),
    progress: progress.at,
  })
  progress.done()
  const { uploaded, removed, unchanged, surplus, foreign, bytes } = result
  const names = dryRun
    ? [...uploaded.map(path => `upload ${path}`), ...removed.map(path => `remove ${path}`)]
    : []
  const size = formatBytes(bytes)
  const verb = dryRun ? 'to upload' : 'uploaded'
  const rest = surplus - foreign.length - removed.length
  report(io, options, result, [
    ...names,
    `${counted(uploaded.length, 'file')} ${verb} (${size}), ${counted(removed.length, 'file')} removed, ${counted(unchanged, 'file')} unchanged`,
    ...(rest > 0
      ? [
          `${counted(rest, 'file')} there that the tree does not have; \`--delete\` removes them, \`--delete --dry-run\` lists them`,
        ]
      : []),
    ...(foreign.length > 0
      ? [
          `${counted(foreign.length, 'file')} there not of a tree, such as ${foreign[0]}: left alone`,
        ]
      : []),
  ])
}

async function openTarget(
  to: string,
  from: string,
  storage: Settings['storage'],
  { env }: Io,
): Promise<Place> {
  const bucket = await openBucket(to, storage, env)
  if (bucket) return bucket
  const folder = resolve(to)
  if (isInside(folder, from) || isInside(from, folder)) refuse('deploy_same', { to })
  return new FolderPlace(folder, { sync: 'never' })
}
