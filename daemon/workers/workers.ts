// daemon/workers: The work behind the answers. `serve` starts and stops it; they never serve a
// request.
import type { Logger } from 'pino'
import type { OnFailure } from '../../core/async/on-failure.ts'
import type { Environment } from '../../core/settings/source.ts'
import { timestamp } from '../../core/timestamp.ts'
import { systemRefusal } from '../../generator/places/disk/fault.ts'
import { isPaused } from '../../generator/records/pause.ts'
import { recordFailure, recordMended } from '../../generator/records/values.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import type { Serving } from '../../generator/serving.ts'
import { logFailure } from '../http/log.ts'
import type { BackgroundWork, Metrics } from '../http/metrics.ts'
import { DownloadCounter, DownloadWorker } from './download-worker.ts'
import { type GitWorker, openGitWorker } from './git-worker.ts'
import { IndexWorker } from './index-worker.ts'
import { MirrorWorker } from './mirror-worker.ts'
import { TakeoverWorker } from './takeover-worker.ts'
import { WebhookWorker } from './webhook-worker.ts'
import type { Worker } from './worker.ts'

export interface Workers {
  /** In the order in which they start and close: each hands work to later ones. */
  readonly list: readonly Worker[]
  readonly indexWorker: IndexWorker
  readonly git: GitWorker | null
  readonly downloads: DownloadCounter
  /** Rejects when this daemon cannot serve any longer beside newer ones. */
  readonly outdated: Promise<never>
}

/** Opens the workers of a daemon; `serving` is null where there can be no other daemon. */
export async function openWorkers(
  registry: Registry,
  serving: Serving | null,
  log: Logger,
  metrics: Metrics,
  env: Environment,
): Promise<Workers> {
  const report = failureReports(registry, log, metrics)
  const index = new IndexWorker(registry, report('build', 'a build failed; trying again'))
  const onTakeoverFailure = report('takeover', 'cannot look for work of other daemons')
  const takeover = serving && new TakeoverWorker(registry, serving, index, onTakeoverFailure)
  const downloads = new DownloadCounter()
  const downloadWorker = new DownloadWorker({
    context: registry,
    counter: downloads,
    onWritten: metrics.downloaded,
    onFailure: report('downloads', 'downloads could not be written; trying again'),
    onMarked: () => index.pages.wake(),
  })
  const git = await openGitWorker(registry, log, {
    onFailure: report('git index', 'the git index is behind; trying again'),
    onPushFailure: report('git push', 'a push of the git index failed; trying again'),
  })
  const mirror = new MirrorWorker(
    registry,
    report('upload', 'the upload of the whole tree failed; trying again'),
  )
  const purges = purgeWorker(registry, report('cdn purge', 'a purge of the CDN failed'))
  const onWebhookFailure = report('webhook', 'an event could not be sent; trying again')
  const webhooks = new WebhookWorker(registry, env, onWebhookFailure)
  const list = [takeover, downloadWorker, index, git, mirror, purges, webhooks].filter(
    worker => worker !== null,
  )
  const outdated = takeover?.outdated ?? new Promise<never>(() => undefined)
  return { list, indexWorker: index, git, downloads, outdated }
}

function failureReports({ database, clock }: Registry, log: Logger, metrics: Metrics) {
  return (what: BackgroundWork, words: string): OnFailure => {
    // One before the start may be recorded as not mended.
    let isMended = false
    const now = () => timestamp(clock())
    const record = (work: Promise<void>) =>
      work.catch(unrecorded => logFailure(log, unrecorded, 'cannot record this failure'))
    const onFailure: OnFailure = fault => {
      // It goes on after the pause, or elsewhere.
      if (isPaused(fault)) return
      const error = systemRefusal(fault, 'operator') ?? fault
      logFailure(log, error, words)
      metrics.backgroundFailed(what)
      isMended = false
      const why = error instanceof Error ? error.message : String(error)
      void record(recordFailure(database, { what, at: now(), why }))
    }
    onFailure.done = () => {
      if (!isMended) void record(recordMended(database, what, now()))
      isMended = true
    }
    return onFailure
  }
}

function purgeWorker({ tree: { cdn } }: Registry, onFailure: OnFailure): Worker | null {
  return (
    cdn && {
      start: async () => {
        cdn.onFailure = onFailure
      },
      close: () => cdn.close().catch(onFailure),
    }
  )
}
