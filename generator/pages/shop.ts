import type { Workshop } from '../build.ts'
import type { Database } from '../database.ts'
import type { Turnstile } from '../lock.ts'
import type { Look } from '../render.ts'

/** What rendering pages needs beyond a build. Pages have a turnstile of their own: no publish ever waits for one. */
export interface PageShop extends Workshop {
  readonly database: Database
  readonly pageTurnstile: Turnstile
  readonly look: Look
}
