import { type Change, timestamp } from '../../generator/index.ts'
import type { Account } from '../accounts/accounts.ts'
import type { LoginPriority } from '../accounts/hashing-queue.ts'
import type { Session } from '../accounts/sessions.ts'

/** A request of a browser. */
export interface BrowserRequest {
  /** Null for a browser that is not logged in. */
  readonly session: Session | null
  /** The token that the forms of the answer carry. */
  readonly csrf: string
  /** The posted form; empty for other methods. */
  readonly form: URLSearchParams
  readonly address: string
  /** Its priority among requests that hash a password. */
  readonly priority: LoginPriority
  readonly now: Date
}

/** A request of a browser that is logged in. */
export interface SessionRequest extends BrowserRequest {
  readonly session: Session
}

/** The change that a user makes in a browser. */
export function changeOf(request: BrowserRequest, user: Account): Change {
  return { ...changeOfUnknown(request), actor: user.login, user }
}

/** An event caused by a browser that did not get in. */
export function changeOfUnknown({ now, address }: BrowserRequest): Change {
  return { at: timestamp(now), actor: 'unknown', user: null, tokenId: null, address }
}
