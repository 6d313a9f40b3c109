// generator/records: What is true: statements on crates and releases. Changes, pages and daemon
// call it; it writes no file.
import { refuse } from '../../core/error/error.ts'
import type { CanonicalName } from '../../core/name.ts'
import type { Job } from '../../core/trust/job.ts'
import type { Database } from '../database/connection.ts'
import { type Queries, value } from '../database/statement.ts'
import type { OwnerRef } from './groups.ts'
import { requireUnpaused, UNPAUSED } from './pause.ts'

/** A user who changes something, as they were when the request was looked at. */
type Author = { readonly id: number; readonly admin: boolean }

/**
 * Returns the user as they are now; refuses if their token, session or whatever else gave them the
 * right to a change is no longer good.
 */
export type StillMay = (tx: Queries) => Promise<Author>

/** What a rule lets a job do: publish one crate. */
export interface RuleGrant {
  readonly rule: number
  readonly crate: CanonicalName
  /** Who owns the crate, if the job creates it. */
  readonly owner: OwnerRef | null
  /** Which job it is, for the audit log and the release. */
  readonly job: Job
}

/** The time of a change to the records (RFC 3339, UTC, whole seconds), and who makes it. */
export type Change = {
  readonly at: string
  /** The name of its maker in the audit log. */
  readonly actor: string
  /** The remote address, for changes over HTTP. */
  readonly address?: string | null
  /** The session in the browser that it is made in; none by a token, a link or a password. */
  readonly sessionId?: number
} & (
  | {
      readonly who: 'user'
      readonly user: Author
      readonly tokenId: number | null
      readonly stillMay: StillMay
    }
  /** A CI job with an identity; `stillMay` refuses what its rules do not let through any more. */
  | {
      readonly who: 'rule'
      readonly grant: RuleGrant
      readonly stillMay: (tx: Queries) => Promise<RuleGrant>
    }
  /** Who is at the command line, or is not known. */
  | { readonly who: 'operator' | 'stranger' }
)

/**
 * Who may make a change besides the operator, who may make all: nobody, an administrator, one user,
 * every user, users and jobs of CI that publish, or everybody.
 */
export type Right =
  | 'operator'
  | 'administrator'
  | { readonly user: number }
  | 'user'
  | 'publisher'
  | 'anybody'

declare const permitted: unique symbol
/** A change whose right was required in its transaction, with the user as they are there. */
export type Permitted = Change & { readonly [permitted]: true }

/** Returns a change made at the command line. */
export function operatorChange(at: string): Change {
  return { at, actor: 'command line', who: 'operator' }
}

/** Returns who owns a crate that a change makes: its user, whoever its rule names, or nobody. */
export function firstOwnerOf(change: Change): OwnerRef | null {
  if (change.who === 'rule') return change.grant.owner
  return change.who === 'user' ? { user: change.user.id } : null
}

/** Returns the id of the user who makes a change, for the records; it says nothing of rights. */
export function userIdOf(change: Change): number | null {
  return change.who === 'user' ? change.user.id : null
}

/** Makes a change in a transaction of its own, which begins with requiring the right to it. */
export function makeChange<T>(
  database: Database,
  change: Change,
  right: Right,
  work: (tx: Queries, by: Permitted) => Promise<T>,
): Promise<T> {
  return database.transaction(async tx => work(tx, await requireRight(tx, change, right)))
}

/**
 * Requires the right to a change in a transaction that others share. Rights may end while a request
 * arrives: what was true before the transaction decides nothing.
 */
export async function requireRight(tx: Queries, change: Change, right: Right): Promise<Permitted> {
  const by = await asOfNow(tx, change)
  if (!hasRight(by, right))
    refuse(right === 'administrator' ? 'admin_only' : 'change_forbidden', { actor: by.actor })
  return by as Permitted
}

async function asOfNow(tx: Queries, change: Change): Promise<Change> {
  if (change.who === 'user') return { ...change, user: await change.stillMay(tx) }
  if (change.who !== 'rule') return change
  const grant = await change.stillMay(tx)
  return { ...change, grant, actor: ruleActor(grant.rule) }
}

/** Returns the name of a rule in the audit log, which no user can have. */
export function ruleActor(rule: number): string {
  return `rule ${rule}`
}

/** Each maker has the rights that are written here; nobody has one for lack of a user. */
function hasRight(by: Change, right: Right): boolean {
  if (by.who === 'operator') return true
  if (by.who === 'stranger') return right === 'anybody'
  if (by.who === 'rule') return right === 'publisher'
  if (by.who !== 'user') return false
  if (typeof right === 'object') return by.user.id === right.user
  return right === 'administrator' ? by.user.admin : right !== 'operator'
}

/**
 * Appends an audit event and returns its id. Call it in the transaction of the change, of which it
 * is a part: it refuses the change while the registry is paused.
 */
export async function addEvent(
  tx: Queries,
  change: Permitted,
  event: { action: string; crate?: string; version?: string; detail?: Record<string, unknown> },
): Promise<number> {
  const sql = `INSERT INTO audit
    (action, crate, version, detail, at, user_id, actor, token_id, address)
    SELECT ?, ?, ?, ?, ?, CAST(? AS INTEGER), ?, CAST(? AS INTEGER), ? WHERE ${UNPAUSED}
    RETURNING id`
  const { action, crate = null, version = null, detail } = event
  const { at, actor, sessionId: session, address = null } = change
  const [userId, token] = change.who === 'user' ? [change.user.id, change.tokenId] : [null, null]
  const job = change.who === 'rule' && { rule: change.grant.rule, ...change.grant.job }
  const details =
    detail || session || job
      ? JSON.stringify({ ...detail, ...(session && { session }), ...job })
      : null
  const what = [action, crate, version, details, at] as const
  const id = await value<number>(tx, sql, ...what, userId, actor, token, address)
  if (id !== null) return id
  // Refuses the change, or removes a pause that is over.
  await requireUnpaused(tx)
  return addEvent(tx, change, event)
}
