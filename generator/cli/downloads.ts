import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { quotedText } from '../../core/error/catalog.ts'
import { issue, Refusal, refuse, refuseErrors } from '../../core/error/error.ts'
import { counted } from '../../core/quantity.ts'
import { importLog, type LogSums } from '../downloads/import-logs.ts'
import { LOG_FORMATS, type LogFormat } from '../downloads/log-line.ts'
import { releaseFinder } from '../downloads/release-path.ts'
import { statOf } from '../places/disk/files.ts'
import { Lock } from '../places/locks/lock.ts'
import { showChanges } from './console/changes.ts'
import { commandGroup, type RegistryTask, registryCommand } from './console/command.ts'
import type { Io } from './console/io.ts'

interface Options {
  readonly format: LogFormat
  readonly path?: string
}

type Log = { readonly path: string } & LogSums
type Result = Log | { readonly path: string; readonly error: string }

const MIB = 1024 ** 2

const registerImport = registryCommand('import', {
  about:
    'count the downloads in access logs of web servers and CDNs; what was imported before is skipped',
  takes: {
    '<file-or-dir...>': 'access logs, plain or packed with gzip, or folders of them',
    '--format <format>': { about: 'format of the logs', choices: LOG_FORMATS, default: 'auto' },
    '--path <path>': 'path below which the logs have the registry; default: that of the base URL',
  },
  examples: {
    'plimsoll downloads import access.log --set downloads.count=imported':
      'counts what is new in a log',
  },
  json: 'an array with an object for each log: `path`, and `error`, a text, or `lines`, `downloads`, `others`, `unknown` and `bad`, numbers of lines; `examples`, objects of lines that were not understood; `known`, bytes that were imported before; `isCopy`; `unfinished`',
  fails: 'some logs could not be read; the others were imported',
  async run(task: RegistryTask<Options>, sources: readonly string[]) {
    const { io, registry, options } = task
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
    const results: Result[] = []
    try {
      if (!(await lease.isMine())) refuse('import_running', { holder: 'on another machine' })
      for (const file of files) results.push(await importOne(task, file))
    } finally {
      await lease.close()
      lock.release()
    }
    const { issues } = await showChanges(task)
    const logs = results.flatMap(result => ('error' in result ? [] : [result]))
    if (!options.json) for (const log of logs) printWarnings(io, log)
    task.report(results, [summary(logs)])
    const failed = results.flatMap(result =>
      'error' in result ? issue('log_unreadable', { path: result.path, reason: result.error }) : [],
    )
    refuseErrors([...failed, ...issues])
  },
})

export const registerDownloads = commandGroup('downloads', 'downloads from access logs', [
  registerImport,
])

async function importOne(task: RegistryTask<Options>, file: string): Promise<Result> {
  const { registry, options, progress } = task
  const size = ((await statOf(file))?.size ?? 0) / MIB
  const step = `reading ${quotedText(file)}, MiB`
  try {
    const sums = await importLog(registry, file, {
      format: options.format,
      find: releaseFinder(registry.urls, options.path),
      progress: bytes =>
        progress(step, Math.floor(bytes / MIB), Math.ceil(Math.max(size, bytes / MIB))),
    })
    return { path: file, ...sums }
  } catch (error) {
    const { code, syscall, message } = error as NodeJS.ErrnoException
    // A log may be gone by now, or be a pipe; the database has no system calls.
    const isOfLog = error instanceof Refusal && /^(?:file|log)_/.test(error.issues[0].code)
    if (!isOfLog && !code?.startsWith('Z_') && !syscall) throw error
    return { path: file, error: message }
  }
}

/** Returns the file, or all files below a folder, sorted by name: logs often begin with a date. */
async function logsAt(source: string): Promise<string[]> {
  if (!(await statOf(source))?.isDirectory()) return [source]
  const entries = await readdir(source, { recursive: true, withFileTypes: true })
  const files = entries.filter(entry => entry.isFile())
  return files.map(({ parentPath, name }) => join(parentPath, name)).sort()
}

function printWarnings(io: Io, { path, examples, bad, isCopy, unfinished }: Log): void {
  if (isCopy) io.err(`warning: ${path} is an older copy of a log that was imported; it was skipped`)
  if (bad > 0) io.err(`warning: ${path}: ${counted(bad, 'line')} not understood, such as`)
  for (const { line, text } of examples) io.err(`  line ${line} of those read: ${text}`)
  if (unfinished) io.err(`${path}: the last line is not complete; the next import reads it`)
}

function summary(logs: readonly Log[]): string {
  const total = (key: 'downloads' | 'others' | 'unknown' | 'bad' | 'lines') =>
    logs.reduce((sum, log) => sum + log[key], 0)
  const rest = [
    counted(total('others'), 'other request'),
    `${counted(total('unknown'), 'download')} of unknown versions`,
    `${counted(total('bad'), 'line')} not understood`,
  ]
  const downloads = `${counted(total('downloads'), 'download')} counted`
  const lines = `${counted(total('lines'), 'new line')} of ${counted(logs.length, 'log')}`
  return `${downloads} in ${lines}; ${rest.join(', ')}`
}
