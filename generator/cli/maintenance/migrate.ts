import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { refuse } from '../../../core/error/error.ts'
import { isBucket, parseBucketAddress } from '../../../core/paths/bucket.ts'
import { counted } from '../../../core/quantity.ts'
import { changedSettings } from '../../../core/settings/file.ts'
import { type CopiedCrates, migrateCrates, setDeletedAside } from '../../migrate/crates.ts'
import { migrate } from '../../migrate/migrate.ts'
import { copyTree } from '../../migrate/tree.ts'
import type { CrateStore } from '../../places/crate-store.ts'
import { writeDurably } from '../../places/disk/durable.ts'
import { openCrates, requireApart } from '../../places/storage.ts'
import { readSettings, SETTINGS_FILE } from '../../registry/folder.ts'
import { isServed } from '../../registry/registry.ts'
import { command, type RegistryTask, type Task, withRegistry } from '../console/command.ts'
import { flagsOf } from '../console/io.ts'

interface MoveOptions {
  readonly to?: string
  readonly crates?: string
  readonly public?: string
  readonly write?: boolean
}

export const registerMigrate = command('migrate', {
  about:
    'move a registry: records to a PostgreSQL server, or from there to a file, and files to other places; publishers wait while records are copied',
  takes: {
    '--to <url>': 'the URL of an empty PostgreSQL database, or `file`',
    '--crates <place>': 'where to copy .crate files, as in `storage.crates`',
    '--write': 'with --to: write the new places into plimsoll.toml',
    '--public <place>': 'with --to: where to copy the public tree, as in `storage.public`',
  },
  examples: {
    'plimsoll migrate --to postgres://plimsoll@db.example.com/plimsoll --crates s3://my-bucket/crates --public s3://my-public-bucket':
      'moves to a server and buckets',
    'plimsoll migrate --to file --crates crates --public public':
      'moves from there to `plimsoll.db` and folders',
    'plimsoll migrate --crates s3://my-bucket/crates':
      'only copies .crate files; again, what is new, without what was deleted since',
  },
  json: 'an object: with `--to` `records`, the number of records, all compared, `place`, where they are, and `paused_ms`, for how long publishers waited; with `--crates` or `--public` `crate_files`, the number of all .crate files, which were compared, and `copied`, of those that were not there',
  fails: 'the registry did not move, and is in use as before',
  run: (task: Task<MoveOptions>) =>
    withRegistry(task, move, { forMove: task.options.to !== undefined }),
})

async function move(task: RegistryTask<MoveOptions>): Promise<void> {
  const { io, registry, options, progress } = task
  const { to, crates: place, public: tree } = options
  if (to === undefined && (place === undefined || tree !== undefined)) refuse('migrate_nothing')
  const { dir, settings } = registry
  for (const address of [place, tree])
    if (address !== undefined && isBucket(address) && !parseBucketAddress(address))
      refuse('bucket_address', { given: address })
  const storage = {
    ...settings.storage,
    ...(place && { crates: place }),
    ...(tree && { public: tree }),
  }
  requireApart(dir, storage)
  const crates = place === undefined ? null : await openCrates(dir, storage, io.env)
  if (to === undefined) return copyCrates(task, crates as CrateStore)
  // An empty URL stands for the file.
  const url = to === 'file' ? '' : to
  const flags = { ...flagsOf(options), 'database.url': url }
  const { database } = readSettings(dir, { env: io.env, flags }).settings
  const moved = await migrate(registry, {
    database,
    crates,
    tree:
      tree === undefined ? null : await copyTree(registry, tree, crates ?? registry.crates, io.env),
    progress,
  })
  const { records, crates: files, pausedMs } = moved
  const places = {
    ...(url !== '' && { 'database.url': url }),
    ...(place && { 'storage.crates': place }),
    ...(tree && { 'storage.public': tree }),
  }
  if (options.write) await writePlaces(dir, places)
  const set = [
    `${url === '' ? 'remove `database.url` from' : 'set `database.url` in'} plimsoll.toml`,
    ...(crates ? ['set `storage.crates`'] : []),
    ...(tree ? ['set `storage.public`'] : []),
  ].join(', ')
  task.report(
    {
      records,
      place: moved.place,
      paused_ms: Math.round(pausedMs),
      ...(files && { crate_files: files.crateFiles, copied: files.copied }),
    },
    [
      records > 0
        ? `moved ${counted(records, 'record')} to ${moved.place}; publishers waited ${(pausedMs / 1000).toFixed(1)} s`
        : `the records are in ${moved.place} since an earlier command; this one copied nothing`,
      files !== null && place !== undefined && describeCrates(files, place),
      options.write
        ? 'plimsoll.toml names the new places; now restart the daemon, without older ones in its environment'
        : `the old records take no changes; now stop the daemon, ${set}, and start it`,
    ],
  )
}

async function writePlaces(dir: string, places: Readonly<Record<string, string>>): Promise<void> {
  const path = join(dir, SETTINGS_FILE)
  const file = { name: path, text: await readFile(path, 'utf8') }
  const isReplaced = (key: string) => key in places || key === 'database.url'
  const { text } = changedSettings(file, isReplaced, places)
  await writeDurably(path, Buffer.from(text), 0o600)
}

async function copyCrates(
  { registry, progress, report }: RegistryTask,
  to: CrateStore,
): Promise<void> {
  const files = await migrateCrates(registry, to, undefined, progress)
  await setDeletedAside(registry.database, to)
  const next = (await isServed(registry))
    ? 'stop the daemon, and run this again for what was published meanwhile'
    : 'set `storage.crates` in plimsoll.toml'
  report({ crate_files: files.crateFiles, copied: files.copied }, [
    `${describeCrates(files, to.place.name)}; then ${next}`,
  ])
}

function describeCrates({ crateFiles, copied }: CopiedCrates, place: string): string {
  return `${counted(crateFiles, '.crate file')} in ${place} compared, ${copied} of them copied now`
}
