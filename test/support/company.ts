import { generateKeyPairSync } from 'node:crypto'
import { createServer, type RequestListener } from 'node:http'
import type { Cleanup } from './cleanup.ts'
import { closeServer, listen } from './loopback.ts'

/** Somebody of the company, by the claims that they have besides `sub`. */
export interface Colleague {
  readonly sub: string
  readonly preferred_username?: string
  readonly name?: string
  readonly groups?: readonly string[]
}

/** A real issuer on this machine, where whoever is in `people` logs in with any password. */
export interface Company {
  readonly issuer: string
  /** By what they type as their name. */
  readonly people: Map<string, Colleague>
}

/** Starts the issuer of a company, which knows one client: the registry at `url`. */
export async function startCompany(cleanup: Cleanup, url: string): Promise<Company> {
  let answer: RequestListener = (_, response) => void response.writeHead(503).end()
  const server = createServer((request, response) => answer(request, response))
  const issuer = await listen(server)
  cleanup.add(() => closeServer(server))
  const { default: Provider } = await import('oidc-provider')
  const people = new Map<string, Colleague>()
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const key = { ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256', kid: 'one' }
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: 'plimsoll',
        client_secret: 'a secret: with %, + and /',
        redirect_uris: [`${url}/me/oidc/company/callback`],
      },
    ],
    jwks: { keys: [key] },
    cookies: { keys: ['one'] },
    claims: { openid: ['sub'], profile: ['preferred_username', 'name', 'groups'] },
    scopes: ['openid', 'profile'],
    features: { devInteractions: { enabled: true } },
    findAccount: (_: unknown, id: string) => {
      const colleague = people.get(id)
      return colleague && { accountId: id, claims: () => ({ ...colleague, sub: id }) }
    },
    // The company agrees for its people.
    loadExistingGrant: async (context: {
      oidc: {
        client: { clientId: string }
        session: { accountId: string }
        provider: { Grant: new (_: object) => { addOIDCScope(_: string): void; save(): unknown } }
      }
    }) => {
      const { client, session, provider } = context.oidc
      const ids = { clientId: client.clientId, accountId: session.accountId }
      const grant = new provider.Grant(ids)
      grant.addOIDCScope('openid profile')
      await grant.save()
      return grant
    },
  })
  answer = provider.callback()
  return { issuer, people }
}
