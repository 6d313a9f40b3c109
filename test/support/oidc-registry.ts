import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { JWTPayload } from 'jose'
import { requireUser } from '../../generator/accounts/accounts.ts'
import { createToken } from '../../generator/accounts/tokens.ts'
import { column } from '../../generator/database/statement.ts'
import { type Change, operatorChange } from '../../generator/records/change.ts'
import { recordLogin } from '../../generator/registry/changes/oidc-login.ts'
import { logInAt, OidcIssuer } from './oidc-issuer.ts'
import { TestRegistry } from './registry.ts'
import { loggedIn, type Visitor } from './visitor.ts'

export const OPERATOR: Change = operatorChange('2026-11-20T12:00:00Z')
export const DAY = 86_400_000

/** A registry with one issuer, and what tests ask of it. */
export interface OidcRegistry {
  readonly issuer: OidcIssuer
  readonly test: TestRegistry
  readonly logins: () => Promise<string[]>
  /** Logs somebody in who is let in; the page says otherwise. */
  readonly logIn: (claims: JWTPayload, name?: string, of?: OidcIssuer) => Promise<Visitor>
  /** What the page says to somebody who is not let in. */
  readonly refused: (claims: JWTPayload) => Promise<string>
  /** A token of somebody. */
  readonly tokenOf: (login: string) => Promise<string>
  /** Publishes with a token; what is said against it, or `published`. */
  readonly publish: (token: string, version: string, name?: string) => Promise<string>
  /** Adds an owner, as `owner` does, who owns `keel`; the answer. */
  readonly owners: (method: 'PUT' | 'DELETE', ...users: string[]) => Promise<string>
}

/** Opens a registry whose section `[oidc.company]` has more settings; `owner` owns `keel`. */
export async function oidcRegistry(
  t: TestContext,
  more: Readonly<Record<string, string>> = {},
  env: Readonly<Record<string, string>> = {},
): Promise<OidcRegistry> {
  const issuer = await OidcIssuer.start(t)
  const test = await TestRegistry.open(t, { env: { ...issuer.settings('company', more), ...env } })
  const { database } = test.registry
  const owner = await test.user('owner', {}, true)
  await test.publish(owner, { name: 'keel', version: '1.0.0' })
  return {
    issuer,
    test,
    logins: () => column(database, 'SELECT login FROM users ORDER BY id'),
    logIn: async (claims, name = 'company', of = issuer) =>
      (await logInAt(test, of, claims, name)).visitor,
    refused: async claims => said((await logInAt(test, issuer, claims)).answer),
    tokenOf: async login => {
      const { id } = await requireUser(database, login)
      const order = { userId: id, name: 'test', scopes: null, crates: null, expires: null }
      return (await createToken(database, order, OPERATOR)).token
    },
    publish: async (token, version, name = 'keel') =>
      (await test.publish(token, { name, version })).body.errors?.[0]?.detail ?? 'published',
    owners: async (method, ...users) => {
      const body = JSON.stringify({ users })
      const answer = await test.request(method, '/api/v1/crates/keel/owners', owner, { body })
      return answer.text()
    },
  }
}

/** What a page says of what went wrong; its text if it says nothing. */
export async function said(answer: Response): Promise<string> {
  const text = await answer.text()
  const [, alert = text] = /role="alert">(.*?)<\/p>/s.exec(text) ?? []
  return alert
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
}

/** The settings of an issuer that nobody can ask, for accounts that are said to be of it. */
export const NO_ISSUER = {
  PLIMSOLL_OIDC_COMPANY_ISSUER: 'http://127.0.0.1:1',
  PLIMSOLL_OIDC_COMPANY_CLIENT_ID: 'plimsoll',
}

/** A browser of somebody who has just logged in at that issuer, with these groups. */
export async function colleague(
  test: TestRegistry,
  login: string,
  groups: readonly string[],
): Promise<Visitor> {
  const issuer = test.registry.settings.oidc.company ?? assert.fail()
  const person = { issuer, subject: login, logins: [login], name: null, groups }
  const change: Change = { at: OPERATOR.at, actor: 'unknown', who: 'stranger' }
  const user = await recordLogin(test.registry, person, change)
  return loggedIn(test, user.login)
}
