import type { Credential } from '../input/input.ts'
import { refusal } from '../wire/response.ts'

/** What a 401 must say: how to authenticate (RFC 6750). */
export const CHALLENGE = { 'WWW-Authenticate': 'Bearer' }

/**
 * Asks for the bearer token of the `Authorization` header, as the OAuth 2.0 password flow hands it out.
 * The scheme may be written in any case and followed by more than one space; `Bearer` alone is an empty token.
 * @param tokenUrl where the documentation tells clients to log in, relative to the application
 * @throws 401 `Not authenticated` without the header or with another scheme
 */
export function bearerToken(tokenUrl: string): Credential<string> {
  return {
    role: 'credential',
    scheme: 'OAuth2PasswordBearer',
    definition: { type: 'oauth2', flows: { password: { scopes: {}, tokenUrl } } },
    read(request) {
      const header = request.headerValues('authorization').at(-1) ?? ''
      const space = header.indexOf(' ')
      const scheme = space === -1 ? header : header.slice(0, space)
      if (scheme.toLowerCase() !== 'bearer') throw refusal(401, 'Not authenticated', CHALLENGE)
      return header.slice(scheme.length).trim()
    },
  }
}
