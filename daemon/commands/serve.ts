import type { Command } from 'commander'
import type { Logger } from 'pino'
import { refuse, warning } from '../../core/error/error.ts'
import { counted } from '../../core/quantity.ts'
import { type ListenAddress, parseListen } from '../../core/settings/kind.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { timestamp } from '../../core/timestamp.ts'
import { requireOwnDl } from '../../core/urls/dl-template.ts'
import { registryUrls } from '../../core/urls/urls.ts'
import { painter } from '../../generator/cli/console/color.ts'
import {
  type FolderOptions,
  flagsOf,
  type Io,
  run,
  withDir,
  withSettingFlags,
} from '../../generator/cli/console/io.ts'
import { withManual } from '../../generator/cli/console/manual.ts'
import { progressLine } from '../../generator/cli/console/progress.ts'
import { fetchProblem, GitIndex } from '../../generator/git/git-index.ts'
import { disk } from '../../generator/places/disk/disk.ts'
import { systemRefusal } from '../../generator/places/disk/fault.ts'
import { PLIMSOLL } from '../../generator/projections/context.ts'
import { lacksAdministrator, NO_ADMINISTRATOR } from '../../generator/records/accounts/accounts.ts'
import { registryCounts } from '../../generator/records/crates.ts'
import { recordFailure } from '../../generator/records/facts.ts'
import { isPaused } from '../../generator/records/pause.ts'
import {
  initRegistry,
  isRegistry,
  openRegistry,
  type Registry,
  readSettings,
  serveLock,
} from '../../generator/registry/registry.ts'
import { beginServing, noteAddress, type Serving } from '../../generator/serving.ts'

import { createApp } from '../app.ts'
import { type Listening, listen } from '../http/listen.ts'
import { logFailure, openLog } from '../http/log.ts'
import { type BackgroundWork, Metrics } from '../metrics.ts'
import { whileStarting } from '../readiness.ts'
import { DownloadCounter } from '../workers/download-counter.ts'
import { DownloadWorker } from '../workers/download-worker.ts'
import { GitWorker } from '../workers/git-worker.ts'
import { IndexWorker } from '../workers/index-worker.ts'
import { MirrorWorker } from '../workers/mirror-worker.ts'
import { TakeoverWorker } from '../workers/takeover-worker.ts'
import { type Life, reload } from './reload.ts'
import { printWelcome } from './welcome.ts'

/** The log message when the first upload of the tree fails. */
const MIRROR_FAILED = 'the upload of the whole tree failed; trying again'

/** The log message when the other daemons cannot be told that this one stops. */
const STILL_LISTED = 'this daemon is listed as serving for some more seconds'

interface ServeOptions extends FolderOptions {
  readonly init?: boolean
}

/**
 * Registers `serve`, which runs the daemon until the promise of `stopped` resolves, and has it
 * reload its settings when `stopped` calls back.
 */
export function registerServe(
  program: Command,
  io: Io,
  stopped: (reload: () => void) => Promise<string>,
): void {
  const command = withSettingFlags(withDir(program.command('serve'), io))
    .description('run the daemon: publishing, the web API and the pages')
    .option('--init', 'create the registry folder if it is missing')
    .action((options: ServeOptions) => {
      const life: Life = { stopped: stopped(() => life.reload()), reload: () => undefined }
      return run(io, () => serve(io, options, life))
    })
  withManual(command, {
    examples: [
      ['plimsoll serve', 'serves ./registry at http://127.0.0.1:8080'],
      ['plimsoll serve --listen 9000', 'serves it at http://127.0.0.1:9000'],
      [
        'plimsoll serve --listen 0.0.0.0:8080 --base-url https://crates.example.com',
        'serves others',
      ],
      ['plimsoll serve --init --dir /data', 'the same in a container: /data may be empty at first'],
    ],
    fails: 'the registry cannot be served',
  })
}

/**
 * Serves a registry folder until it is stopped. Locks the folder, listens, finishes pending work,
 * and prints the settings for Cargo and `listening on …`. At the end, finishes running requests.
 */
async function serve(io: Io, options: ServeOptions, life: Life): Promise<void> {
  const { dir } = options
  const sources = { env: io.env, flags: flagsOf(options), program: io.program, onUpgrade: io.err }
  if (options.init && !isRegistry(dir)) {
    await initRegistry(dir, sources, {})
    io.err(`created a registry in ${dir}`)
  }
  const { settings } = readSettings(dir, sources)
  const address = parseListen(settings.server.listen)
  if (!address) throw new Error(`settings let the address ${settings.server.listen} through`)
  if (settings.registry.base_url === null) requireUrl(io, address)
  const lock = serveLock(dir)
  if (!lock.tryAcquire(`process ${process.pid}`))
    refuse('serve_locked', { dir, holder: lock.holder() })
  const { cert, key } = settings.tls
  const { level, format } = settings.log
  const isText = format === 'auto' ? process.stderr.isTTY === true : format === 'text'
  const paint = painter(process.stderr, io.env)
  const log = openLog(level, process.stderr, isText ? 'text' : 'json', paint)
  try {
    const server = await listen({
      ...address,
      requestSeconds: settings.limits.request_seconds,
      meanwhile: whileStarting,
      tls: cert !== null && key !== null ? { cert, key } : null,
      onTlsFailure: refusal =>
        logFailure(log, refusal, 'the renewed TLS files are unusable; keeping the old ones'),
    })
    try {
      lock.describe(
        `process ${process.pid} at ${server.url}, version ${(io.program ?? PLIMSOLL).version}`,
      )
      // Cargo would get 404 for every download of a crate that other daemons published.
      requireOwnDl(registryUrls(settings.registry, server.url))
      const progress = progressLine(io)
      const registry = await openRegistry(dir, sources, server.url, progress.at)
      progress.done()
      try {
        const before = await noteAddress(registry)
        if (before !== null && settings.registry.base_url === null)
          log.warn(warning('base_url_changed', { before, now: registry.urls.base }).message)
        const serving = await beginServing(registry, server.url)
        try {
          const read = () => readSettings(dir, sources).settings
          await serveRegistry(io, log, life, { registry, server, serving, read })
        } finally {
          await serving?.end().catch(error => log.warn({ err: error }, STILL_LISTED))
        }
      } finally {
        await registry.close()
      }
    } finally {
      // Otherwise a daemon that failed to start would keep its address and never exit.
      await server.stop(0)
    }
  } finally {
    lock.release()
  }
}

/** A served registry and its parts; `serving` is null where there can be no other daemon. */
interface Service {
  readonly registry: Registry
  readonly server: Listening
  readonly serving: Serving | null
  /** Reads the settings as they are now. */
  readonly read: () => Settings
}

/** Returns a function that logs and stores failures of background work. */
function failureReports(io: Io, log: Logger, registry: Registry, metrics: Metrics) {
  return (what: BackgroundWork, words: string) => (fault: unknown) => {
    // It goes on after the pause, or elsewhere.
    if (isPaused(fault)) return
    const error = systemRefusal(fault, 'operator') ?? fault
    logFailure(log, error, words)
    metrics.backgroundFailed(what)
    const why = error instanceof Error ? error.message : String(error)
    const failure = { what, at: timestamp(io.now()), why }
    recordFailure(registry.database, failure).catch(unrecorded =>
      logFailure(log, unrecorded, 'cannot record this failure'),
    )
  }
}

async function serveRegistry(
  io: Io,
  log: Logger,
  life: Life,
  { registry, server, serving, read }: Service,
): Promise<void> {
  const clock = () => io.now()
  const patience = () => registry.settings.server.shutdown_seconds
  const metrics = new Metrics(registry)
  const failureReport = failureReports(io, log, registry, metrics)
  await registry.crates.sweep()
  const onBuildFailure = failureReport('build', 'a build failed; trying again')
  const onPurgeFailure = failureReport('cdn purge', 'a purge of the CDN failed')
  const indexWorker = new IndexWorker(registry, onBuildFailure)
  const downloads = new DownloadCounter()
  const downloadWorker = new DownloadWorker({
    context: registry,
    counter: downloads,
    onWritten: metrics.downloaded,
    onFailure: failureReport('downloads', 'downloads could not be written; trying again'),
    onMarked: () => indexWorker.pages.wake(),
  })
  let git: GitWorker | null = null
  let mirror: MirrorWorker | null = null
  const onTakeoverFailure = failureReport('takeover', 'cannot look for work of other daemons')
  const takeover = serving && new TakeoverWorker(registry, serving, indexWorker, onTakeoverFailure)
  try {
    const onPushFailure = failureReport('git push', 'a push of the git index failed; trying again')
    const startGit = await openGit(registry, log, onPushFailure)
    await indexWorker.catchUp()
    await indexWorker.pages.start()
    if (registry.tree.cdn) registry.tree.cdn.onFailure = onPurgeFailure
    mirror = new MirrorWorker(registry, failureReport('upload', MIRROR_FAILED))
    git = startGit?.(failureReport('git index', 'the git index is behind; trying again')) ?? null
    await git?.beginWithConfig()
    const { crates, releases } = await registryCounts(registry.database)
    const deps = { registry, indexWorker, clock, log, metrics, git, downloads }
    const answer = () => {
      const app = createApp(deps)
      server.answer(app.fetch, app.quick)
    }
    answer()
    life.reload = () => reload({ registry, server, log, read, answer })
    await printWelcome(io, registry)
    if (await lacksAdministrator(registry.database)) log.warn(NO_ADMINISTRATOR)
    io.out(`listening on ${server.url}`)
    disk.useThread()
    const contents = `${counted(crates, 'crate')} with ${counted(releases, 'version')}`
    log.info({ url: server.url, crates, releases }, `started: ${contents} in ${registry.dir}`)
    const signal = await Promise.race([life.stopped, ...(takeover ? [takeover.outdated] : [])])
    const hint = signal === 'SIGINT' ? '; Ctrl-C again stops at once' : ''
    log.info({ signal }, `stopping (${signal}): finishing work, at most ${patience()} s${hint}`)
  } finally {
    await server.stop(patience())
    await takeover?.close()
    await downloadWorker.close()
    await indexWorker.close(patience())
    await git?.close()
    await mirror?.close()
    await registry.tree.cdn?.close().catch(onPurgeFailure)
  }
  log.info('stopped')
}

/** Opens the git index; returns a function that starts its worker, or null without an index. */
async function openGit(
  registry: Registry,
  log: Logger,
  onPushFailure: (failure: unknown) => void,
): Promise<((onFailure: (error: unknown) => void) => GitWorker) | null> {
  const lease = registry.locks.lease('git')
  const isLeading = await lease.isMine()
  const onMissing = (refusal: Error) => log.warn({ err: refusal }, 'there is no git index')
  const index = await GitIndex.follow(registry, { onMissing, onPushFailure }, isLeading)
  if (!index) {
    // Another daemon may have the missing parts.
    await lease.close()
    return null
  }
  const problem = await fetchProblem()
  if (problem) log.warn(problem.message)
  return onFailure => new GitWorker(index, { lease, isLeading }, onFailure)
}

/** Refuses or warns if there is no base URL and the listening address cannot serve as one. */
function requireUrl(io: Io, address: ListenAddress): void {
  if ('socket' in address) refuse('base_url_missing', { address: `unix:${address.socket}` })
  if (address.host === '0.0.0.0' || address.host === '::')
    io.err(
      `warning: listening on every address of this machine, but links point to ${address.host}, which other machines cannot reach; set \`registry.base_url\` to the address at which users reach the registry`,
    )
}
