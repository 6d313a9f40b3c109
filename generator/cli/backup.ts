import { resolve } from 'node:path'
import type { Command } from 'commander'
import { refuse, refuseErrors, warning } from '../../core/error/error.ts'
import { counted } from '../../core/quantity.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { backup } from '../backup/backup.ts'
import { restore } from '../backup/restore.ts'
import { ORIGINAL_SETTINGS_FILE } from '../backup/restored-settings.ts'
import { migrateCrates, setDeletedAside } from '../migrate/crates.ts'
import { migrate, undoMove } from '../migrate/migrate.ts'
import { copyTree } from '../migrate/tree.ts'
import { type Registry, readSettings, serveLock } from '../registry.ts'
import type { CrateStore } from '../store/crate-store.ts'
import type { Bucket } from '../store/s3/bucket.ts'
import { openBucket, openCrates } from '../store/storage.ts'
import { showChanges } from './changes.ts'
import { withManual } from './console/manual.ts'
import { type ProgressLine, progressLine } from './console/progress.ts'
import { readRegistry, withRegistry } from './folder.ts'
import {
  type FolderOptions,
  flagsOf,
  type Io,
  localPath,
  printIssues,
  report,
  run,
  withDir,
} from './io.ts'

type Options = FolderOptions & { readonly json?: boolean }

/** `backup FILE` and `restore FILE`: one tar file with everything that cannot be derived. */
export function registerBackup(program: Command, io: Io): void {
  const save = withDir(program.command('backup'), io)
    .description(
      'write settings, database and .crate files to one tar file, also while a daemon is running',
    )
    .argument('<file>', 'the tar file to create', localPath)
    .action((file: string, options: Options) =>
      readRegistry(io, options, async registry => {
        const progress = progressLine(io)
        const crates = await backup(registry, file, progress.at)
        progress.done()
        report(io, options, { file, crate_files: crates }, [
          `${file} contains the registry with its ${counted(crates, '.crate file')}, and the hashes of its tokens; keep it secret`,
        ])
      }),
    )
  withManual(save, {
    examples: [['plimsoll backup backups/monday.tar', 'writes a consistent backup']],
    json: 'an object: `file`, and `crate_files`, the number of .crate files in it',
    fails: 'the backup could not be made; there is no file',
  })
  const restoring = withDir(program.command('restore'), io)
    .description('create a registry folder from a backup; nothing outside of it is changed')
    .argument('<file>', 'a file that `plimsoll backup` wrote')
    .action((file: string, options: Options) => load(io, file, options))
  withManual(restoring, {
    examples: [
      ['plimsoll restore backups/monday.tar --dir restored', 'restores into a new folder'],
    ],
    json: 'an object: `dir`; `crate_files`, the number of restored .crate files; `left_out`, an array of the settings that lead out of the folder and are only in `plimsoll.original.toml`; `ignored`, an array of the variables of the environment that do',
    fails: 'the backup could not be restored, or some of it could not be rendered',
  })
}

async function load(io: Io, file: string, options: Options): Promise<void> {
  const { dir } = options
  const sources = { env: io.env, flags: flagsOf(options), program: io.program, onUpgrade: io.err }
  await run(io, async () => {
    const progress = progressLine(io)
    const restored = await restore(file, dir, sources, progress.at)
    progress.done()
    const { crateFiles, leftOut, variables, within, isAgain } = restored
    if (isAgain) printIssues(io, [warning('restore_again', { dir })])
    const inside = { ...options, set: { ...options.set, ...within } }
    await withRegistry(io, inside, async registry => {
      const { issues } = await showChanges(io, registry, true)
      if (variables.length > 0)
        printIssues(io, [warning('restore_variables', { names: variables.join(', '), dir })])
      const flags = Object.entries(within).map(([key, value]) => ` --set ${key}=${value}`)
      const result = { dir, crate_files: crateFiles, left_out: leftOut, ignored: variables }
      report(io, options, result, [
        `restored ${counted(crateFiles, '.crate file')}`,
        ...leftOutLines(leftOut),
        ...setLines(Object.keys(sources.flags)),
        `the registry is in ${dir}; check it with \`plimsoll verify --dir ${dir}${flags.join('')}\``,
      ])
      refuseErrors(issues)
    })
  })
}

function leftOutLines(leftOut: readonly string[]): string[] {
  if (leftOut.length === 0) return []
  return [
    `plimsoll.toml is without ${leftOut.join(', ')}, which would lead out of the folder; ${ORIGINAL_SETTINGS_FILE} has all settings`,
  ]
}

function setLines(keys: readonly string[]): string[] {
  if (keys.length === 0) return []
  return [
    `plimsoll.toml has ${keys.join(', ')} as on the command line; ${ORIGINAL_SETTINGS_FILE} is the file of the backup`,
  ]
}

interface MoveOptions extends FolderOptions {
  readonly to?: string
  readonly crates?: string
  readonly public?: string
  readonly undo?: boolean
  readonly json?: boolean
}

/** `migrate`: moves the records to another database, and `.crate` files to another place. */
export function registerMigrate(program: Command, io: Io): void {
  const command = withDir(program.command('migrate'), io)
    .description(
      'move a registry, also while it is served: records to a PostgreSQL server or from there to a file, and .crate files',
    )
    .option('--to <url>', 'the URL of an empty PostgreSQL database, or `file`')
    .option('--crates <place>', 'where to copy .crate files, as in `storage.crates`')
    .option(
      '--public <address>',
      'with --to: bucket to upload the public tree to, as in `storage.public`',
    )
    .option('--undo', 'let the records that were moved, or begun to be, be changed here again')
    .action((options: MoveOptions) =>
      withRegistry(
        io,
        options,
        registry =>
          options.undo
            ? undo(io, registry, options)
            : move(io, registry, options, progressLine(io)),
        options.undo === true || options.to !== undefined,
      ),
    )
  withManual(command, {
    examples: [
      [
        'plimsoll migrate --to postgres://plimsoll@db.example.com/plimsoll --crates s3://my-bucket/crates --public s3://my-public-bucket',
        'moves to a server and buckets',
      ],
      [
        'plimsoll migrate --to file --crates crates',
        'moves from there to `plimsoll.db` and the folder `crates`',
      ],
      [
        'plimsoll migrate --crates s3://my-bucket/crates',
        'only copies .crate files; again, what is new, without what was deleted since',
      ],
      ['plimsoll migrate --undo', 'gives a move up'],
    ],
    json: 'an object: with `--to` `records`, the number of records, all compared, `place`, where they are, and `paused_ms`, for how long publishes waited; with `--crates` `crate_files`, the number of all .crate files, which were compared, and `copied`, of those that were not there; with `--undo` `place`, where the records had been moved to',
    fails:
      'the registry did not move, and is in use as before; the next call goes on where this one has stopped',
  })
}

async function move(
  io: Io,
  registry: Registry,
  options: MoveOptions,
  progress: ProgressLine,
): Promise<void> {
  const { to, crates: place, public: address } = options
  if (to === undefined && (place === undefined || address !== undefined)) refuse('migrate_nothing')
  const { dir, settings } = registry
  const crates =
    place === undefined
      ? null
      : await openCrates(resolve(dir), { ...settings.storage, crates: place }, io.env)
  if (to === undefined) return copyCrates(io, registry, options, crates as CrateStore, progress)
  // An empty URL is that of the file.
  const url = to === 'file' ? '' : to
  const flags = { ...flagsOf(options), 'database.url': url }
  const { database } = readSettings(dir, { env: io.env, flags }).settings
  const bucket = address === undefined ? null : await bucketAt(address, settings, io)
  const tree = bucket && (await copyTree(registry, bucket))
  const moved = await migrate(registry, { database, crates, tree, progress: progress.at })
  progress.done()
  const [records, files] = [moved.records, moved.crates]
  const set = [
    url === '' ? 'remove `database.url` from' : 'set `database.url` in',
    ' plimsoll.toml',
    ...(crates ? [', set `storage.crates`'] : []),
    ...(tree ? [', set `storage.public`'] : []),
  ].join('')
  const waited = (moved.pausedMs / 1000).toFixed(1)
  report(
    io,
    options,
    {
      records,
      place: moved.place,
      paused_ms: Math.round(moved.pausedMs),
      ...(files && { crate_files: files.crateFiles, copied: files.copied }),
    },
    [
      records > 0
        ? `moved ${counted(records, 'record')} to ${moved.place}; publishes waited ${waited} s`
        : `the records are in ${moved.place}`,
      ...(files ? [describeCrates(files, place as string)] : []),
      `the old records refuse changes; now stop the daemon, ${set}, and start it`,
    ],
  )
}

async function bucketAt(place: string, { storage }: Settings, { env }: Io): Promise<Bucket> {
  return (await openBucket(place, storage, env)) ?? refuse('bucket_address', { given: place })
}

async function copyCrates(
  io: Io,
  registry: Registry,
  options: MoveOptions,
  to: CrateStore,
  progress: ProgressLine,
): Promise<void> {
  const isServed = serveLock(registry.dir).isHeld()
  const files = await migrateCrates(registry, to, progress.at)
  await setDeletedAside(registry.database, to)
  progress.done()
  const next = isServed
    ? 'stop the daemon, and run this again for what was published meanwhile'
    : 'set `storage.crates` in plimsoll.toml'
  report(io, options, { crate_files: files.crateFiles, copied: files.copied }, [
    `${describeCrates(files, to.place)}; then ${next}`,
  ])
}

function describeCrates(
  { crateFiles, copied }: { readonly crateFiles: number; readonly copied: number },
  place: string,
): string {
  return `${counted(crateFiles, '.crate file')} in ${place} compared, ${copied} of them copied now`
}

async function undo(io: Io, registry: Registry, options: MoveOptions): Promise<void> {
  const { to, crates, public: address } = options
  if ([to, crates, address].some(one => one !== undefined)) refuse('migrate_undo_alone')
  const place = await undoMove(registry)
  report(io, options, { place }, [
    `the records here take changes again; those in ${place} are a copy that is out of date, remove them`,
  ])
}
