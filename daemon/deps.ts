import type { Logger } from 'pino'
import type { OidcClient } from '../generator/accounts/oidc/client.ts'
import type { Registry } from '../generator/registry/registry.ts'
import type { TrustedIssuers } from '../generator/trust/verify.ts'
import type { Upstreams } from '../generator/upstream/open.ts'
import type { Metrics } from './http/metrics.ts'
import type { Workers } from './workers/workers.ts'

/** The daemon's shared dependencies; nothing else opens a store. */
export interface Deps extends Pick<Workers, 'indexWorker' | 'git' | 'downloads'> {
  readonly registry: Registry
  readonly log: Logger
  readonly metrics: Metrics
  readonly upstreams: Upstreams
  /** The issuers at which people log in, by the names of their sections. */
  readonly logins: ReadonlyMap<string, OidcClient>
  readonly issuers: TrustedIssuers
}
