import type { Command } from 'commander'
import { refuse } from '../../../core/error/error.ts'
import { counted } from '../../../core/quantity.ts'
import { isBucket, parseBucketAddress } from '../../../core/settings/bucket.ts'
import { type CopiedCrates, migrateCrates, setDeletedAside } from '../../migrate/crates.ts'
import { migrate } from '../../migrate/migrate.ts'
import { copyTree } from '../../migrate/tree.ts'
import type { CrateStore } from '../../places/crate-store.ts'
import { openCrates, requireApart } from '../../places/storage.ts'
import { readSettings } from '../../registry/folder.ts'
import { isServed, type Registry } from '../../registry/registry.ts'
import { withRegistry } from '../console/folder.ts'
import { type FolderOptions, filled, flagsOf, type Io, report, withDir } from '../console/io.ts'
import { withManual } from '../console/manual.ts'
import { type ProgressLine, progressLine } from '../console/progress.ts'

interface MoveOptions extends FolderOptions {
  readonly to?: string
  readonly crates?: string
  readonly public?: string
  readonly json?: boolean
}

/** `migrate`: moves the records to another database, and files to other places. */
export function registerMigrate(program: Command, io: Io): void {
  const command = withDir(program.command('migrate'), io)
    .description(
      'move a registry: records to a PostgreSQL server, or from there to a file, and files to other places; publishers wait while records are copied',
    )
    .option('--to <url>', 'the URL of an empty PostgreSQL database, or `file`')
    .option('--crates <place>', 'where to copy .crate files, as in `storage.crates`', filled)
    .option(
      '--public <place>',
      'with --to: where to copy the public tree, as in `storage.public`',
      filled,
    )
    .action((options: MoveOptions) =>
      withRegistry(
        io,
        options,
        registry => move(io, registry, options, progressLine(io)),
        options.to !== undefined,
      ),
    )
  withManual(command, {
    examples: [
      [
        'plimsoll migrate --to postgres://plimsoll@db.example.com/plimsoll --crates s3://my-bucket/crates --public s3://my-public-bucket',
        'moves to a server and buckets',
      ],
      [
        'plimsoll migrate --to file --crates crates --public public',
        'moves from there to `plimsoll.db` and folders',
      ],
      [
        'plimsoll migrate --crates s3://my-bucket/crates',
        'only copies .crate files; again, what is new, without what was deleted since',
      ],
    ],
    json: 'an object: with `--to` `records`, the number of records, all compared, `place`, where they are, and `paused_ms`, for how long publishers waited; with `--crates` or `--public` `crate_files`, the number of all .crate files, which were compared, and `copied`, of those that were not there',
    fails: 'the registry did not move, and is in use as before',
  })
}

async function move(
  io: Io,
  registry: Registry,
  options: MoveOptions,
  progress: ProgressLine,
): Promise<void> {
  const { to, crates: place, public: tree } = options
  if (to === undefined && (place === undefined || tree !== undefined)) refuse('migrate_nothing')
  const { dir, settings } = registry
  for (const given of [place, tree])
    if (given !== undefined && isBucket(given) && !parseBucketAddress(given))
      refuse('bucket_address', { given })
  const storage = {
    ...settings.storage,
    ...(place && { crates: place }),
    ...(tree && { public: tree }),
  }
  requireApart(dir, storage)
  const crates = place === undefined ? null : await openCrates(dir, storage, io.env)
  if (to === undefined) return copyCrates(io, registry, options, crates as CrateStore, progress)
  // An empty URL stands for the file.
  const url = to === 'file' ? '' : to
  const flags = { ...flagsOf(options), 'database.url': url }
  const { database } = readSettings(dir, { env: io.env, flags }).settings
  const moved = await migrate(registry, {
    database,
    crates,
    tree:
      tree === undefined ? null : await copyTree(registry, tree, crates ?? registry.crates, io.env),
    progress: progress.at,
  })
  progress.done()
  const { records, crates: files, pausedMs } = moved
  const set = [
    `${url === '' ? 'remove `database.url` from' : 'set `database.url` in'} plimsoll.toml`,
    ...(crates ? ['set `storage.crates`'] : []),
    ...(tree ? ['set `storage.public`'] : []),
  ].join(', ')
  report(
    io,
    options,
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
      ...(files && place ? [describeCrates(files, place)] : []),
      `the old records take no changes; now stop the daemon, ${set}, and start it`,
    ],
  )
}

async function copyCrates(
  io: Io,
  registry: Registry,
  options: MoveOptions,
  to: CrateStore,
  progress: ProgressLine,
): Promise<void> {
  const files = await migrateCrates(registry, to, undefined, progress.at)
  await setDeletedAside(registry.database, to)
  progress.done()
  const next = (await isServed(registry))
    ? 'stop the daemon, and run this again for what was published meanwhile'
    : 'set `storage.crates` in plimsoll.toml'
  report(io, options, { crate_files: files.crateFiles, copied: files.copied }, [
    `${describeCrates(files, to.place.name)}; then ${next}`,
  ])
}

function describeCrates({ crateFiles, copied }: CopiedCrates, place: string): string {
  return `${counted(crateFiles, '.crate file')} in ${place} compared, ${copied} of them copied now`
}
