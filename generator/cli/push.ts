import { resolve } from 'node:path'
import { refuse } from '../../core/error/error.ts'
import { configPath } from '../../core/paths/tree.ts'
import { parseDl } from '../../core/urls/index-config.ts'
import { baseOfDl } from '../../core/urls/urls.ts'
import { asCaller } from '../places/disk/caller.ts'
import { findCrates } from '../places/disk/crate-files.ts'
import { TEXT_MAX } from '../places/disk/files.ts'
import type { Place } from '../places/place.ts'
import { openBucket } from '../places/storage.ts'
import { openPushFolder, push } from '../static/push.ts'
import { command, reportChecked, type Task } from './console/command.ts'
import { looseSettings } from './console/loose-settings.ts'

interface Options {
  readonly to: string
}

export const registerPush = command('push', {
  about: 'add .crate files to a static tree in a bucket or folder, also many at once',
  takes: {
    '<file-or-dir...>': '.crate files, or folders to search for them',
    '--to <place>': {
      about: 'the tree: s3://BUCKET/PREFIX or a folder; new if it is empty',
      isRequired: true,
    },
    '--base-url <url>': 'URL at which users reach the tree',
    '--verbose': 'print every warning, not just one of each kind',
  },
  examples: {
    'plimsoll push target/package/demo-1.0.0.crate --to s3://my-site --base-url https://crates.example.com':
      'publishes from CI, without a server',
    'plimsoll push crates --to www --base-url https://crates.example.com':
      'adds all files below a folder, dependencies first',
  },
  json: 'an object: `files`, an array with an object for each file (`path`, `name`, `version`; `outcome`, `pushed` or `present`); `warnings` and `refused`, arrays of texts',
  fails: 'a file was refused; if `refused` is in the result, the files in `files` were pushed',
  async run(task: Task<Options>, sources: readonly string[]) {
    const { io, options } = task
    const { storage } = looseSettings(task).settings
    const bucket = await openBucket(options.to, storage, io.env)
    const { place: to, close } = bucket
      ? { place: bucket, close: undefined }
      : await openPushFolder(resolve(options.to))
    const { settings, urls } = await pushSettings(task, to)
    const lists = await asCaller(() => Promise.all(sources.map(source => findCrates(source))))
    const files = lists.flat()
    const result = await push({ files, to, settings, urls }).finally(() => close?.())
    const lines = result.files.map(({ name, version, outcome }) =>
      outcome === 'pushed' ? `pushed ${name} ${version}` : `${name} ${version} is there already`,
    )
    reportChecked(task, result, { files: result.files }, lines)
  },
})

/** Returns the settings of a push; without an address, uses that of the existing tree. */
async function pushSettings(task: Task<Options>, to: Place) {
  const loose = looseSettings(task, false)
  if (loose.settings.registry.base_url !== null) return loose
  const config = await to.read(configPath, TEXT_MAX)
  const dl = config && parseDl(config.bytes.toString(), `${to.name}/${configPath}`)
  const baseUrl = dl && baseOfDl(dl)
  // The index contains the base URL, and there is no daemon whose address it could be.
  if (!baseUrl) return refuse('base_url_missing', { address: task.options.to })
  return looseSettings({ ...task, options: { ...task.options, baseUrl } }, false)
}
