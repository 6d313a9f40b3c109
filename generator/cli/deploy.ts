import { resolve } from 'node:path'
import { refuse } from '../../core/error/error.ts'
import { isBucket } from '../../core/paths/bucket.ts'
import { UPSTREAM_FOLDER } from '../../core/paths/upstream.ts'
import { counted, formatBytes } from '../../core/quantity.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { ownDl } from '../../core/urls/dl-template.ts'
import { deploy, deployUpstream } from '../deploy/deploy.ts'
import { isInside } from '../places/disk/files.ts'
import { FolderPlace } from '../places/folder-place.ts'
import type { Place } from '../places/place.ts'
import { openBucket } from '../places/storage.ts'
import { isRegistry } from '../registry/folder.ts'
import { openUpstreamPlace } from '../upstream/open.ts'
import { command, type Task } from './console/command.ts'
import type { Io } from './console/io.ts'
import { looseSettings } from './console/loose-settings.ts'

interface Options {
  readonly to: string
  readonly delete?: boolean
  readonly pages?: boolean
  readonly dryRun?: boolean
}

export const registerDeploy = command('deploy', {
  about: 'upload a public tree to a bucket or folder: only what changed, packages before the index',
  takes: {
    '--to <place>': { about: 'where to: s3://BUCKET/PREFIX or a folder', isRequired: true },
    '--from <dir>': 'the tree, such as of `build --out`; default: that of the registry',
    '--delete': 'remove files of a tree there that this one does not have',
    '--pages': 'leave index and .crate files there as they are, for a tree that `push` adds to',
    '--dry-run': 'change nothing, print what would be uploaded and removed',
  },
  examples: {
    'plimsoll deploy --from public --to s3://my-site': 'uploads a static tree',
    'plimsoll deploy --from public --to /srv/www --dry-run': 'shows what would change',
  },
  json: 'an object: `uploaded` and `removed`, arrays of paths; `unchanged`, `surplus` (files that only the target has) and `bytes`, numbers; `foreign`, the paths of those that no tree has, which stay',
  fails: 'the target cannot be written to',
  async run(task: Task<Options>) {
    const { io, options, progress } = task
    const { dir, dryRun = false } = options
    if (options.from === undefined && !isRegistry(dir)) refuse('not_a_registry', { dir })
    const { settings, urls } = looseSettings(task)
    const folder = isBucket(settings.storage.public) ? 'public' : settings.storage.public
    const from = resolve(options.from ?? resolve(dir, folder))
    const result = await deploy({
      from,
      to: await openTarget(options.to, from, settings.storage, io),
      removes: options.delete ?? false,
      isPagesOnly: options.pages ?? false,
      isTrial: dryRun,
      dl: ownDl(urls),
      progress,
    })
    const also = await deployUpstreams(task, settings)
    const { uploaded, removed, unchanged, surplus, foreign, bytes } = result
    const size = formatBytes(bytes)
    const [uploads, removes] = verbsOf(options)
    const rest = surplus - foreign.length - removed.length
    task.report(result, [
      ...uploaded.map(path => dryRun && `upload ${path}`),
      ...removed.map(path => dryRun && `remove ${path}`),
      `${counted(uploaded.length, 'file')} ${uploads} (${size}), ${counted(removed.length, 'file')} ${removes}, ${counted(unchanged, 'file')} unchanged`,
      rest > 0 &&
        `${counted(rest, 'file')} there that the tree does not have; \`--delete\` removes them, \`--delete --dry-run\` lists them`,
      foreign.length > 0 &&
        `${counted(foreign.length, 'file')} there not of a tree, such as ${foreign[0]}: left alone`,
      ...also,
    ])
  },
})

function verbsOf({ dryRun }: Options): readonly [uploads: string, removes: string] {
  return dryRun ? ['to upload', 'to remove'] : ['uploaded', 'removed']
}

async function deployUpstreams(
  { io, options }: Task<Options>,
  settings: Settings,
): Promise<string[]> {
  if (options.from !== undefined) return []
  const lines: string[] = []
  for (const upstream of Object.values(settings.upstream)) {
    const from = await openUpstreamPlace(upstream, options.dir, settings.storage, io.env)
    const at = `${options.to.replace(/\/$/, '')}/${UPSTREAM_FOLDER}/${upstream.name}`
    const to = await openTarget(at, from.name, settings.storage, io)
    const done = await deployUpstream(from, to, options.dryRun ?? false)
    if (!done) continue
    const [uploads, removes] = verbsOf(options)
    lines.push(
      `${counted(done.uploaded.length, 'file')} of the upstream ${upstream.name} ${uploads}, ${counted(done.removed.length, 'file')} ${removes}, ${counted(done.unchanged, 'file')} unchanged`,
    )
  }
  return lines
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
