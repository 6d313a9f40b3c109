import { createHmac, randomBytes } from 'node:crypto'
import type { Database } from '../../generator/index.ts'
import { isSameText } from './secret.ts'

/**
 * The cookie value that marks a browser as used with an account: an id and its HMAC under the
 * stored password, so nothing is stored and a new password invalidates it. Null without a password.
 */
export async function makeDevice(database: Database, userId: number): Promise<string | null> {
  const row = await passwords(database).where('id', '=', userId).executeTakeFirst()
  if (!row?.password) return null
  const id = randomBytes(16).toString('base64url')
  return `${id}.${proof(id, row.password)}`
}

/** The id of a browser, where it is known to the account that a login means; null otherwise. */
export async function knownDevice(
  database: Database,
  login: string,
  cookie: string,
): Promise<string | null> {
  const [, id = '', given = ''] = /^([\w-]{22})\.([\w-]{43})$/.exec(cookie) ?? []
  if (id === '') return null
  const query = passwords(database).where('canonical', '=', login.toLowerCase())
  const row = await query.executeTakeFirst()
  return row?.password && isSameText(given, proof(id, row.password)) ? id : null
}

function passwords(database: Database) {
  return database.selectFrom('users').select('password')
}

function proof(id: string, stored: string): string {
  return createHmac('sha256', stored).update(`plimsoll device ${id}`).digest('base64url')
}
