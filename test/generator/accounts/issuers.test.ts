// Mirrors generator/accounts/oidc/claims.ts
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resolveSettings } from '../../../core/settings/settings.ts'
import { personOf } from '../../../generator/accounts/oidc/claims.ts'

type Claims = Readonly<Record<string, unknown>>

interface Issuer {
  readonly settings: Readonly<Record<string, string>>
  readonly idToken: Claims
  readonly userinfo?: Claims
  readonly login: string
  readonly subject: string
  readonly groups: readonly string[] | null
}

const GUID = '6f1c0c2e-9f5a-4a3e-8a55-0f6b9a3c1d2e'

/** What issuers send somebody's client, by their makers' pages; `docs/run/login.md` has the settings. */
const ISSUERS: Readonly<Record<string, Issuer>> = {
  'Keycloak with realm roles': {
    settings: { groups_claim: '/realm_access/roles' },
    idToken: {
      ...{ sub: 'f:1', preferred_username: 'ada', name: 'Ada L.', email_verified: true },
      realm_access: { roles: ['offline_access', 'rust'] },
      resource_access: { account: { roles: ['manage-account'] } },
    },
    ...{ login: 'ada', subject: 'f:1', groups: ['offline_access', 'rust'] },
  },
  'Keycloak with full group paths': {
    settings: {},
    idToken: { sub: 'f:1', preferred_username: 'ada', groups: ['/acme/rust', '/acme'] },
    ...{ login: 'ada', subject: 'f:1', groups: ['/acme/rust', '/acme'] },
  },
  'Entra ID': {
    settings: { subject_claim: 'oid' },
    idToken: {
      ...{ sub: 'pairwise', oid: GUID, tid: 't-1', preferred_username: 'ada@acme.test' },
      groups: [GUID],
    },
    ...{ login: 'ada@acme.test', subject: GUID, groups: [GUID] },
  },
  'Entra ID with too many groups': {
    settings: { subject_claim: 'oid' },
    idToken: {
      ...{ sub: 'pairwise', oid: GUID, preferred_username: 'ada@acme.test' },
      _claim_names: { groups: 'src1' },
      _claim_sources: { src1: { endpoint: 'https://graph.microsoft.com/v1.0/users/x' } },
    },
    ...{ login: 'ada@acme.test', subject: GUID, groups: null },
  },
  'Entra ID by the implicit flag': {
    settings: { subject_claim: 'oid' },
    idToken: { sub: 'p', oid: GUID, preferred_username: 'ada', hasgroups: 'true' },
    ...{ login: 'ada', subject: GUID, groups: null },
  },
  Google: {
    settings: { require: 'hd=acme.test', login_claims: 'email' },
    idToken: { sub: '10769', hd: 'acme.test', email: 'ada@acme.test', email_verified: true },
    ...{ login: 'ada@acme.test', subject: '10769', groups: [] },
  },
  Okta: {
    settings: {},
    idToken: { sub: '00u1', ver: 1, preferred_username: 'ada@acme.test', groups: ['Everyone'] },
    ...{ login: 'ada@acme.test', subject: '00u1', groups: ['Everyone'] },
  },
  'GitLab, whose groups are in userinfo': {
    settings: {},
    idToken: { sub: '7', sub_legacy: 'x', nickname: 'ada', groups_direct: ['acme'] },
    userinfo: { sub: '7', nickname: 'somebody', groups: ['acme', 'acme/rust'] },
    ...{ login: 'ada', subject: '7', groups: ['acme', 'acme/rust'] },
  },
  Forgejo: {
    settings: {},
    idToken: { sub: '3', preferred_username: 'ada', groups: ['acme', 'acme:rust'] },
    ...{ login: 'ada', subject: '3', groups: ['acme', 'acme:rust'] },
  },
  'Dex, federated': {
    settings: {},
    idToken: {
      ...{ sub: 'Cgcy', name: 'ada', preferred_username: 'ada', groups: ['acme:rust'] },
      federated_claims: { connector_id: 'github', user_id: '2' },
    },
    ...{ login: 'ada', subject: 'Cgcy', groups: ['acme:rust'] },
  },
  'Dex, by the id at GitHub': {
    settings: { subject_claim: '/federated_claims/user_id', require: 'x=y' },
    idToken: { sub: 'Cgcy', x: 'y', preferred_username: 'ada', federated_claims: { user_id: 2 } },
    ...{ login: 'ada', subject: '2', groups: [] },
  },
}

function issuerWith(settings: Issuer['settings']) {
  const own = { issuer: 'https://login.acme.test', client_id: 'plimsoll', ...settings }
  const env = Object.entries(own).map(([key, value]) => [
    `PLIMSOLL_OIDC_X_${key.toUpperCase()}`,
    value,
  ])
  return resolveSettings({ env: Object.fromEntries(env) }).settings.oidc.x ?? assert.fail()
}

for (const [name, { settings, idToken, userinfo = {}, ...person }] of Object.entries(ISSUERS))
  test(`people of ${name} have their subject, name and groups`, () => {
    const issuer = issuerWith(settings)
    const { subject, logins, groups } = personOf(issuer, idToken, userinfo)
    assert.deepEqual({ subject, login: logins[0], groups }, person)
  })

test('Google lets in the accounts of the company alone', () => {
  const issuer = issuerWith({ require: 'hd=acme.test' })
  for (const hd of [undefined, '', 'ACME.test', 'acme.test.evil.example', { 0: 'acme.test' }])
    assert.throws(() => personOf(issuer, { sub: '1', hd }, {}), /hd/, String(hd))
  // A claim that the ID token has is not that of userinfo, whatever it is.
  const userinfo = { sub: '1', hd: 'acme.test' }
  assert.throws(() => personOf(issuer, { sub: '1', hd: null }, userinfo), /hd/)
})
