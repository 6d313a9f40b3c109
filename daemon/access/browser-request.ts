import type { Change } from '../../generator/index.ts'
import { timestamp } from '../../generator/index.ts'
import type { LoginPriority } from '../accounts/hashing-queue.ts'
import type { Session } from '../accounts/sessions.ts'

/** A request of a browser. */
export interface BrowserRequest {
  /** Null for somebody who is not logged in. */
  readonly session: Session | null
  /** What the forms of the answer have to carry. */
  readonly csrf: string
  /** What was posted; empty for what was not. */
  readonly form: URLSearchParams
  readonly address: string
  /** Where it stands among those who give a password. */
  readonly priority: LoginPriority
  readonly now: Date
}

/** A request of a browser that is logged in. */
export interface SessionRequest extends BrowserRequest {
  readonly session: Session
}

/** The change that a visitor is about to make, as themselves or, when logging in, as the user they turn out to be. */
export function changeOf(
  request: BrowserRequest,
  user: { readonly id: number; readonly login: string; readonly admin: boolean },
): Change {
  return {
    at: timestamp(request.now),
    actor: user.login,
    user,
    tokenId: null,
    address: request.address,
  }
}
