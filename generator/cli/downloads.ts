import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Command, Option } from 'commander'
import { quotedText } from '../../core/error/catalog.ts'
import { issue, refuse, refuseErrors } from '../../core/error/error.ts'
import { counted } from '../../core/quantity.ts'
import { importLog, type LogSums } from '../downloads/import-logs.ts'
import { LOG_FORMATS, type LogFormat } from '../downloads/log-line.ts'
import { releaseFinder } from '../downloads/release-path.ts'
import { readFolder, statOf } from '../places/disk/files.ts'
import { Lock } from '../places/locks/lock.ts'
import type { Registry } from '../registry/registry.ts'
import { showChanges } from './console/changes.ts'
import { withRegistry } from './console/folder.ts'
import { type FolderOptions, type Io, report, withDir } from './console/io.ts'
import { withManual } from './console/manual.ts'
import { progressLine } from './console/progress.ts'

interface Options extends FolderOptions {
  readonly format: LogFormat
  readonly path?: string
  readonly json?: boolean
}

/** `downloads import FILE…`: counts downloads from access logs; see docs/run/downloads.md. */
export function registerDownloads(program: Command, io: Io): void {
  const downloads = program.command('downloads').description('downloads from access logs')
  const command = withDir(downloads.command('import'), io)
    .description(
      'count the downloads in access logs of web servers and CDNs; what was imported before is skipped',
    )
    .argument('<file-or-dir...>', 'access logs, plain or packed with gzip, or folders of them')
    .addOption(
      new Option('--format <format>', 'format of the logs').choices(LOG_FORMATS).default('auto'),
    )
    .option(
      '--path <path>',
      'path below which the logs have the registry; default: that of the base URL',
    )
    .action((files: string[], options: Options) =>
      withRegistry(io, options, registry => importAll(io, registry, files, options)),
    )
  withManual(command, {
    examples: [
      [
        'plimsoll downloads import access.log --set downloads.count=imported',
        'counts what is new in a log',
      ],
    ],
    json: 'an array with an object for each log: `path`, and `error`, a text, or `lines`, `downloads`, `others`, `unknown` and `bad`, numbers of lines; `examples`, objects of lines that were not understood; `known`, bytes that were imported before; `isCopy`; `unfinished`',
    fails: 'some logs could not be read; the others were imported',
  })
}

async function importAll(
  io: Io,
  registry: Registry,
  sources: readonly string[],
  options: Options,
): Promise<void> {
  const { count } = registry.settings.downloads
  if (count !== 'imported') refuse('downloads_not_imported', { count })
  if (!sources.some(source => existsSync(source)))
    refuse('file_missing', { path: sources[0] ?? '' })
  const files = (await Promise.all(sources.map(logsAt))).flat()
  const lock = new Lock(join(registry.dir, 'locks', 'downloads.lock'))
  if (!lock.tryAcquire(`process ${process.pid}`))
    refuse('import_running', { holder: lock.holder() })
  // Another machine has another folder.
  const lease = registry.locks.lease('downloads')
  const results: ({ path: string } & (LogSums | { error: string }))[] = []
  try {
    if (!(await lease.isMine())) refuse('import_running', { holder: 'on another machine' })
    for (const file of files)
      results.push({ path: file, ...(await importOne(io, registry, file, options)) })
  } finally {
    await lease.close()
    lock.release()
  }
  const { issues } = await showChanges(io, registry)
  if (!options.json) printWarnings(io, results)
  report(io, options, results, [summary(results)])
  const failed = results.flatMap(result =>
    'error' in result ? issue('log_unreadable', { path: result.path, reason: result.error }) : [],
  )
  refuseErrors([...failed, ...issues])
}

type Report = LogSums | { readonly error: string }

async function importOne(
  io: Io,
  registry: Registry,
  file: string,
  { format, path }: Options,
): Promise<Report> {
  const progress = progressLine(io)
  const size = ((await statOf(file))?.size ?? 0) / MIB
  const step = `reading ${quotedText(file)}, MiB`
  const find = releaseFinder(registry.urls, path)
  try {
    return await importLog(registry, file, {
      format,
      find,
      progress: bytes =>
        progress.at(step, Math.floor(bytes / MIB), Math.ceil(Math.max(size, bytes / MIB))),
    })
  } catch (error) {
    const { code, syscall, message } = error as NodeJS.ErrnoException
    // A log may be gone by now, or be a pipe; the database has no system calls.
    if (!code?.startsWith('Z_') && !syscall) throw error
    return { error: message }
  } finally {
    progress.done()
  }
}

const MIB = 1024 ** 2

/**
 * Returns the file, also if there is none, or all files below a folder, sorted by name: logs often
 * begin with a date.
 */
async function logsAt(source: string): Promise<string[]> {
  const facts = await statOf(source)
  if (!facts?.isDirectory()) return [source]
  const found: string[] = []
  for (const entry of await readFolder(source)) {
    if (entry.isDirectory()) found.push(...(await logsAt(join(source, entry.name))))
    else if (entry.isFile()) found.push(join(source, entry.name))
  }
  return found.sort()
}

type Results = readonly ({ path: string } & Report)[]

function printWarnings(io: Io, results: Results): void {
  for (const log of results) {
    if ('error' in log) continue
    const { path, examples, bad, isCopy, unfinished } = log
    if (isCopy)
      io.err(`warning: ${path} is an older copy of a log that was imported; it was skipped`)
    if (bad > 0) io.err(`warning: ${path}: ${counted(bad, 'line')} not understood, such as`)
    for (const { line, text } of examples) io.err(`  line ${line} of those read: ${text}`)
    if (unfinished) io.err(`${path}: the last line is not complete; the next import reads it`)
  }
}

function summary(results: Results): string {
  const logs = results.flatMap(result => ('error' in result ? [] : [result]))
  const sum = (key: 'downloads' | 'others' | 'unknown' | 'bad' | 'lines', noun: string) =>
    counted(
      logs.reduce((total, log) => total + log[key], 0),
      noun,
    )
  const rest = [
    sum('others', 'other request'),
    `${sum('unknown', 'download')} of unknown versions`,
    `${sum('bad', 'line')} not understood`,
  ]
  const found = `${sum('downloads', 'download')} counted in ${sum('lines', 'new line')}`
  return `${found} of ${counted(logs.length, 'log')}; ${rest.join(', ')}`
}
