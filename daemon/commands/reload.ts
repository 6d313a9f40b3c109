import type { Logger } from 'pino'
import type { Settings } from '../../core/settings/settings.ts'
import type { Registry } from '../../generator/registry/registry.ts'
import type { Listening } from '../http/listen.ts'

/** The settings that a running daemon takes over; others are fixed when it starts. */
const TAKEN_OVER = [
  /^(?:api|policy)\./,
  /^owners\.(?!public$)/,
  /^advisories\.(?!from$)/,
  /^auth\.(?!required$)/,
  /^limits\.(?!request_seconds$)/,
  /^(?:server\.(?:trusted_proxies|shutdown_seconds)|log\.level)$/,
]

type Values = Record<string, unknown>

export interface Life {
  /** Resolves with the reason when it has to stop. */
  readonly stopped: Promise<string>
  /** Set by the daemon: called when it has to reload its settings. */
  reload: () => void
}

export interface Reload {
  readonly registry: Registry
  readonly server: Listening
  readonly log: Logger
  readonly read: () => Settings
  /** Has requests answered by the settings of the registry from now on. */
  readonly answer: () => void
}

/**
 * Reloads certificates, and the settings that can change while a daemon serves; names the others.
 * Logs unusable settings and keeps the old ones. Never throws.
 */
export function reload({ registry, server, log, read, answer }: Reload): void {
  try {
    server.renewTls()
    const [taken, left]: [string[], string[]] = [[], []]
    for (const [section, rows] of Object.entries(read())) {
      // A section of static builds only.
      if (section === 'yanked') continue
      const running = registry.settings[section as keyof Settings] as unknown as Values
      for (const [name, value] of Object.entries(rows)) {
        if (JSON.stringify(running[name]) === JSON.stringify(value)) continue
        const key = `${section}.${name}`
        const isTaken = TAKEN_OVER.some(pattern => pattern.test(key))
        if (isTaken) running[name] = value
        const keys = isTaken ? taken : left
        keys.push(key)
      }
    }
    log.level = registry.settings.log.level
    if (taken.length > 0) answer()
    const what = taken.length > 0 ? taken.join(', ') : 'no setting that can be has changed'
    log.info({ settings: taken }, `reloaded: ${what}`)
    if (left.length > 0)
      log.warn({ settings: left }, `not reloaded: ${left.join(', ')}; restart the daemon for that`)
  } catch (error) {
    log.error({ err: error }, 'the settings cannot be reloaded; keeping the old ones')
  }
}
