import { createHmac, randomBytes } from 'node:crypto'
import type { Database } from '../../generator/index.ts'
import { storedPassword } from './accounts.ts'
import { isSameText } from './secret.ts'

/**
 * The cookie value that marks a browser as used with an account: an id and its HMAC under the
 * stored password, so nothing is stored and a new password invalidates it. Null without a password.
 */
export async function makeDevice(database: Database, login: string): Promise<string | null> {
  const stored = await storedPassword(database, login)
  const id = randomBytes(16).toString('base64url')
  return stored && `${id}.${proof(id, stored)}`
}

/** The id of a browser, where it is known to the account that a login means; null otherwise. */
export async function knownDevice(
  database: Database,
  login: string,
  cookie: string,
): Promise<string | null> {
  const [, id = '', given = ''] = /^([\w-]{22})\.([\w-]{43})$/.exec(cookie) ?? []
  const stored = id === '' ? null : await storedPassword(database, login)
  return stored && isSameText(given, proof(id, stored)) ? id : null
}

function proof(id: string, stored: string): string {
  return createHmac('sha256', stored).update(`plimsoll device ${id}`).digest('base64url')
}
