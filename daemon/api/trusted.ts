import type { Context } from 'hono'
import * as v from 'valibot'
import { refuse } from '../../core/error/error.ts'
import { exchange, revoke } from '../../generator/trust/exchange.ts'
import { isTrustedToken } from '../../generator/trust/trusted-tokens.ts'
import { strangerChange } from '../access/route.ts'
import type { Deps } from '../deps.ts'
import { addressOf } from '../http/client-address.ts'
import { readJsonBody } from '../http/request-body.ts'

const exchangeBody = v.object({ jwt: v.string() })

/** `POST /api/v1/trusted_publishing/tokens`: a token of this registry for that of a CI system. */
export async function exchangeToken({ registry, issuers }: Deps, c: Context) {
  if (registry.urls.api === null) refuse('api_off')
  const { jwt } = await readJsonBody(c, exchangeBody)
  const token = await exchange(registry.database, issuers, jwt, senderOf(registry, c))
  return c.json({ token }, 200, { 'cache-control': 'no-store' })
}

/** `DELETE /api/v1/trusted_publishing/tokens`: ends the token of the job; 204 also if it is none. */
export async function revokeToken({ registry }: Deps, c: Context) {
  const header = c.req.header('authorization') ?? refuse('authorization_missing')
  if (/[^\t\x20-\x7e]/.test(header)) refuse('authorization_text')
  const [, scheme = 'bearer', token = ''] = /^(?:(\S+) +)?(\S*) *$/.exec(header.trim()) ?? []
  if (scheme.toLowerCase() !== 'bearer') refuse('authorization_scheme', { scheme })
  if (!isTrustedToken(token)) refuse('authorization_unparsed')
  await revoke(registry.database, token, senderOf(registry, c))
  return c.body(null, 204)
}

function senderOf({ settings, clock }: Deps['registry'], c: Context) {
  return strangerChange({ address: addressOf(settings.server)(c), now: clock() })
}
