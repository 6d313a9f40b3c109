import type { Cargo } from '../support/cargo.ts'
import type { Cleanup } from '../support/cleanup.ts'
import type { Project } from '../support/project.ts'
import type { Origin } from '../support/raw-publish.ts'
import type { Faults } from '../support/recording-proxy.ts'
import type { Requests } from '../support/request-log.ts'

/**
 * What a way of running the registry can do. A scenario names what it needs and is registered for
 * the drivers that have it: `sparse` – clients have the index as files over HTTP; `git` – they have
 * it as a repository; `repository` – there is one, whatever clients use; `api` – the web API, with
 * a token; `no-api` – there is none, and `cargo publish` has to say so; `tree` – the test may put
 * its hands on the files; `headers` – requests are seen in the order in which they came, with
 * queries and headers; `faults` – something between client and server can fail; `tls` – HTTP/2 is
 * spoken; `folder` – `.crate` files are in a folder of the registry.
 */
export type Capability =
  | 'sparse'
  | 'git'
  | 'repository'
  | 'api'
  | 'no-api'
  | 'tree'
  | 'headers'
  | 'faults'
  | 'tls'
  | 'folder'

/** One way of running the registry. */
export interface Driver {
  readonly name: string
  readonly capabilities: readonly Capability[]
  /** Why a client of Rust 1.`minor` cannot play it, or need not; null when it does. */
  readonly unfit?: (minor: number) => string | null
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
  /**
   * The number of daemons that answer in turn, by default one: each limits the searches that it
   * answers.
   */
  readonly daemons?: number
  /** All requests of clients. */
  readonly requests: Requests
  /** Puts faults between clients and registry, or takes them away; for drivers with `faults`. */
  readonly interfere?: (faults?: Faults) => void
  /** The web API's side, for drivers with `api`. */
  readonly api?: Api
  /** Whether it records when a release was published. */
  readonly stampsReleases: boolean
  /** Makes releases of these projects available, in their order. */
  readonly publish: (cargo: Cargo, projects: readonly Project[]) => Promise<void>
  readonly yank: (cargo: Cargo, name: string, version: string) => Promise<void>
  readonly unyank: (cargo: Cargo, name: string, version: string) => Promise<void>
  /**
   * Offers a `.crate` that Cargo did not make; the web API also gets its dependencies as Cargo
   * would send them. Returns the registry's objection, or null.
   */
  readonly offer: (
    name: string,
    version: string,
    bytes: Uint8Array,
    deps?: readonly unknown[],
  ) => Promise<string | null>
  /** The files themselves, for drivers with `tree`. */
  readonly files?: Files
}

export interface Api {
  /** A token that may do all that its user, `sailor`, may do. */
  readonly token: string
  /** Adds a user; a token of theirs. */
  readonly addUser: (name: string) => Promise<string>
  /** Folder of the registry. */
  readonly folder: string
  /** All that the daemon has written to its log. */
  readonly log: () => string
}

export interface Files {
  /** Folder of the public tree. */
  readonly tree: string
  /** Removes a release, as an operator who deletes its file does. */
  readonly remove: (name: string, version: string) => Promise<void>
  /** Builds the tree again. */
  readonly rebuild: () => Promise<void>
}
