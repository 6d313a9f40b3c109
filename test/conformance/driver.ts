import type { Cargo } from '../support/cargo.ts'
import type { Cleanup } from '../support/cleanup.ts'
import type { Project } from '../support/project.ts'
import type { Origin } from '../support/raw-publish.ts'
import type { Faults } from '../support/recording-proxy.ts'
import type { RequestLog } from '../support/request-log.ts'

/**
 * What a way of running the registry can do. A scenario names what it needs and is registered for
 * the drivers that have it: `sparse` – clients have the index as files over HTTP; `git` – they have
 * it as a repository; `repository` – there is one, whatever clients use; `api` – the web API, with
 * a token; `faults` – something between client and server sees requests and can fail; `tls` –
 * HTTP/2 is spoken.
 */
export type Capability = 'sparse' | 'git' | 'repository' | 'api' | 'faults' | 'tls'

/** One way of running the registry. */
export interface Driver {
  readonly name: string
  readonly capabilities: readonly Capability[]
  /** Why a client of Rust 1.`minor` cannot play it, or need not; null when it does. */
  readonly unfit?: (minor: number) => string | null
  /** Whether a private registry is played, too: where files lie changes nothing of that. */
  readonly isPrivateToo?: boolean
  /** The statements of `plimsoll check` that are false of it by its nature. */
  readonly lacks?: readonly string[]
  /**
   * Starts an empty registry with all files below `folder`; the settings are environment variables.
   */
  readonly start: (
    cleanup: Cleanup,
    folder: string,
    settings: NodeJS.ProcessEnv,
  ) => Promise<Registry>
}

/** For drivers whose index is sparse: Rust 1.68 was the first to read it. */
export const readsSparse = (minor: number): string | null =>
  minor < 68 ? 'it knows no sparse index' : null

/** A registry under test. */
export interface Registry extends Origin {
  /** Index URL as users write it into Cargo's configuration. */
  readonly indexUrl: string
  /** The environment in which a cargo can read it. */
  readonly cargoEnv?: Readonly<Record<string, string>>
  /** A token that may do all that its user, `sailor`, may do; for drivers with `api`. */
  readonly token?: string
  /** All requests of clients; for drivers with `faults`, and for static trees. */
  readonly requests?: RequestLog
  /** Puts faults between clients and registry, or takes them away; for drivers with `faults`. */
  readonly interfere?: (faults?: Faults) => void
  /** Makes releases of these projects available, in their order. */
  readonly publish: (cargo: Cargo, projects: readonly Project[]) => Promise<void>
  readonly yank: (cargo: Cargo, name: string, version: string) => Promise<void>
}
