import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { refuse } from '../../core/error/error.ts'
import { counted, formatBytes } from '../../core/quantity.ts'
import { isBucket, parseBucketAddress } from '../../core/settings/bucket.ts'
import { resolveSettings, type Settings } from '../../core/settings/settings.ts'
import { deploy } from '../deploy/deploy.ts'
import { bucketTarget, type DeployTarget, folderTarget } from '../deploy/target.ts'
import { readSettings } from '../registry.ts'
import { openBucket } from '../store/storage.ts'
import { withManual } from './console/manual.ts'
import { progressLine } from './console/progress.ts'
import { type FolderOptions, flagsOf, type Io, report, run, withDir } from './io.ts'

interface Options extends FolderOptions {
  readonly to: string
  readonly from?: string
  readonly delete?: boolean
  readonly dryRun?: boolean
  readonly json?: boolean
}

/** `deploy`: uploads a public tree to a bucket or another folder. */
export function registerDeploy(program: Command, io: Io): void {
  const command = withDir(program.command('deploy'), io)
    .description('upload a public tree to a bucket or folder: only what changed, the index last')
    .requiredOption('--to <place>', 'where to: s3://BUCKET/PREFIX or a folder')
    .option('--from <dir>', 'the tree, such as of `build --out`; default: that of the registry')
    .option('--delete', 'remove files there that the tree does not have')
    .option('--dry-run', 'change nothing, print what would be uploaded and removed')
    .action((options: Options) => run(io, () => deployTree(io, options)))
  withManual(command, {
    examples: [
      ['plimsoll deploy --from public --to s3://my-bucket', 'uploads a static tree'],
      ['plimsoll deploy --from public --to /srv/www --dry-run', 'shows what would change'],
    ],
    json: 'an object: `uploaded` and `removed`, arrays of paths; `unchanged`, `surplus` (files that only the target has) and `bytes`, numbers',
    fails: 'the target cannot be written to',
  })
}

async function deployTree(io: Io, options: Options): Promise<void> {
  const { dir, dryRun = false } = options
  const sources = { env: io.env, flags: flagsOf(options) }
  const { settings } =
    options.from === undefined ? readSettings(dir, sources) : resolveSettings(sources)
  const folder = isBucket(settings.storage.public) ? 'public' : settings.storage.public
  const from = resolve(options.from ?? resolve(dir, folder))
  const progress = progressLine(io)
  const result = await deploy({
    from,
    to: await openTarget(options.to, from, settings, io),
    removes: options.delete ?? false,
    isTrial: dryRun,
    progress: progress.at,
  })
  progress.done()
  const { uploaded, removed, unchanged, surplus, bytes } = result
  const names = dryRun
    ? [...uploaded.map(path => `upload ${path}`), ...removed.map(path => `remove ${path}`)]
    : []
  const size = formatBytes(bytes)
  const verb = dryRun ? 'to upload' : 'uploaded'
  const rest = surplus - removed.length
  report(io, options, result, [
    ...names,
    `${counted(uploaded.length, 'file')} ${verb} (${size}), ${counted(removed.length, 'file')} removed, ${counted(unchanged, 'file')} unchanged`,
    ...(rest > 0
      ? [`${counted(rest, 'file')} there that the tree does not have; \`--delete\` removes them`]
      : []),
  ])
}

async function openTarget(
  to: string,
  from: string,
  { storage }: Settings,
  { env }: Io,
): Promise<DeployTarget> {
  if (isBucket(to)) {
    if (!parseBucketAddress(to)) refuse('bucket_address', { given: to })
    const bucket = await openBucket(to, storage, env)
    if (bucket) return bucketTarget(bucket, storage.cache_seconds)
  }
  const folder = resolve(to)
  const real = (path: string) => {
    try {
      return `${realpathSync(path)}/`
    } catch {
      // A folder that is still to be made.
      return `${path}/`
    }
  }
  const [one, other] = [real(folder), real(from)]
  if (one.startsWith(other) || other.startsWith(one)) refuse('deploy_same', { to })
  return folderTarget(folder)
}
