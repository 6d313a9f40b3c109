import type { RequestListener } from 'node:http'

/** The parts of oidc-provider, an issuer of OpenID Connect, that tests use; it has no types. */
export default class Provider {
  constructor(issuer: string, configuration: object)
  callback(): RequestListener
}
