// Mirrors generator/records/change.ts: who may make which change
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Refusal } from '../../../core/error/error.ts'
import { canonicalName, parseName } from '../../../core/name.ts'
import type { Release } from '../../../core/release/release.ts'
import { resolveSettings } from '../../../core/settings/settings.ts'
import { parseVersion } from '../../../core/version.ts'
import {
  addUser,
  requireUser,
  setAdmin,
  setLocked,
  type User,
} from '../../../generator/accounts/accounts.ts'
import { makeLink, setPassword } from '../../../generator/accounts/credentials.ts'
import { setMember, titleGroup } from '../../../generator/accounts/groups.ts'
import {
  linkIdentity,
  moveIssuer,
  unlinkIdentity,
} from '../../../generator/accounts/oidc-identities.ts'
import {
  addOwners,
  answerInvitation,
  inviteOwners,
  removeOwners,
} from '../../../generator/accounts/ownership.ts'
import { endSession, endSessions, startSession } from '../../../generator/accounts/sessions.ts'
import { createToken, revokeToken } from '../../../generator/accounts/tokens.ts'
import type { Database } from '../../../generator/database/connection.ts'
import { type Queries, value } from '../../../generator/database/statement.ts'
import { keepAdvisories } from '../../../generator/records/advisories/change.ts'
import {
  addEvent,
  type Change,
  makeChange,
  operatorChange,
} from '../../../generator/records/change.ts'
import { type CrateRecord, findCrate } from '../../../generator/records/crates.ts'
import { listReleases } from '../../../generator/records/releases.ts'
import {
  addImport,
  importRelease,
  insertAdded,
  removeReleases,
  setYanked,
} from '../../../generator/records/releases-changes.ts'
import { inspect } from '../../../generator/registry/changes/check.ts'
import { setDeprecated } from '../../../generator/registry/changes/deprecation.ts'
import { linkLogin, recordLogin } from '../../../generator/registry/changes/oidc-login.ts'
import { removeUser, renameUser } from '../../../generator/registry/changes/users.ts'
import { exchange, revoke } from '../../../generator/trust/exchange.ts'
import { setOnly } from '../../../generator/trust/rules-changes.ts'
import { acceptVersion, keepAlarm } from '../../../generator/upstream/alarms.ts'
import { decideVersion } from '../../../generator/upstream/decisions.ts'
import { buildCrate } from '../../support/crate-builder.ts'
import { NO_ISSUER } from '../../support/oidc-registry.ts'
import { NO_UPSTREAM, TestRegistry } from '../../support/registry.ts'
import { JOBS } from '../../support/trusted-jobs.ts'
import { PASSWORD } from '../../support/visitor.ts'

const AT = '2026-11-20T12:00:00Z'
const OPERATOR = operatorChange(AT)
const V1 = parseVersion('1.0.0')
const V2 = parseVersion('2.0.0')

/** `self` owns the crate, or the account, that a change is about; `user` has nothing to do with it. */
type Maker = 'operator' | 'stranger' | 'rule' | 'user' | 'self' | 'administrator'
const MAKERS: readonly Maker[] = ['operator', 'stranger', 'rule', 'user', 'self', 'administrator']

/** One try of a change, with a user and a crate of its own. */
interface Try {
  readonly test: TestRegistry
  readonly database: Database
  readonly by: Change
  readonly self: User
  readonly other: User
  readonly crate: CrateRecord
  release(name: string, version: string): Release
  inside<T>(work: (tx: Queries) => Promise<T>): Promise<T>
}

const OWNER: readonly Maker[] = ['operator', 'self', 'administrator']
const ADMIN: readonly Maker[] = ['operator', 'administrator']
const SELF: readonly Maker[] = ['operator', 'self']
const USERS: readonly Maker[] = ['operator', 'user', 'self', 'administrator']

const GONE = { name: 'ACME-2026-0001', origin: 'own', content: '', sum: '', before: '' } as const
const upstreamOf = ({ test }: Try) => test.upstreams.byName.get('up') ?? assert.fail()
/** Every function that makes a change, who may, and how; those with a space are of the daemon. */
const CHANGES: Readonly<
  Record<string, readonly [may: readonly Maker[], work: (of: Try) => Promise<unknown>]>
> = {
  insertAdded: [
    // A rule may publish the crate that it was granted, and no other.
    [...SELF, 'rule'],
    of => of.inside(tx => insertAdded(tx, of.release(of.crate.name, '2.0.0'), of.by)),
  ],
  'insertAdded new': [
    USERS,
    of => of.inside(tx => insertAdded(tx, of.release(`new${of.crate.id}`, '1.0.0'), of.by)),
  ],
  'changeCrates of a crate': [
    OWNER,
    ({ database, crate, by }) => setOnly(database, crate.name, false, by),
  ],
  'changeCrates of a prefix': [
    ['operator', 'administrator'],
    ({ database, by }) => setOnly(database, 'acme-*', false, by),
  ],
  exchange: [
    MAKERS.filter(maker => maker !== 'rule'),
    ({ test, database, by }) => {
      const { issuer } = resolveSettings({
        env: { PLIMSOLL_ISSUER_GITHUB_SHARED: 'auto' },
      }).settings
      const verified = {
        issuer: issuer.github ?? assert.fail(),
        claims: JOBS.github,
        identity: `${Math.random()}`,
        ends: Date.parse(AT),
      }
      const issuers = Object.assign(Object.create(test.issuers), { verify: async () => verified })
      return exchange(database, issuers, '', by).catch((error: unknown) => {
        // It has no rule, which only those are told who may ask.
        if (!(error instanceof Refusal && error.has('rule_none'))) throw error
      })
    },
  ],
  revoke: [
    MAKERS.filter(maker => maker !== 'rule'),
    ({ database, by }) => revoke(database, 'plim_tp_', by),
  ],
  setYanked: [OWNER, ({ test, crate, by }) => setYanked(test.registry, crate.name, V1, true, by)],
  setDeprecated: [
    OWNER,
    ({ test, crate, by }) =>
      setDeprecated(test.registry, crate.name, { reason: 'old', use: null }, by),
  ],
  removeReleases: [
    ['operator'],
    async ({ test, database, crate, by }) =>
      removeReleases(test.registry, crate, await listReleases(database, crate.id), null, by),
  ],
  importRelease: [
    ['operator'],
    of =>
      of.inside(tx =>
        importRelease(tx, of.release(of.crate.name, '2.0.0'), of.by, { owner: null }),
      ),
  ],
  addImport: [
    ['operator'],
    of => of.inside(tx => addImport(tx, of.by, { source: 'x', versions: 1 })),
  ],
  keepAdvisories: [
    ['operator'],
    ({ test: { registry }, by }) => keepAdvisories(registry, [GONE], registry.urls.own, by),
  ],
  addOwners: [OWNER, of => addOwners(of.test.registry, of.crate, [of.other.login], of.by)],
  inviteOwners: [OWNER, of => inviteOwners(of.test.registry, of.crate, [of.other.login], of.by)],
  removeOwners: [
    OWNER,
    async ({ test, crate, self, other, by }) => {
      await addOwners(test.registry, crate, [other.login], OPERATOR)
      return removeOwners(test.registry, crate, [self.login], by)
    },
  ],
  answerInvitation: [
    SELF,
    async ({ test, crate, self, other, by }) => {
      await addOwners(test.registry, crate, [other.login], OPERATOR)
      await removeOwners(test.registry, crate, [self.login], OPERATOR)
      await inviteOwners(test.registry, crate, [self.login], OPERATOR)
      return answerInvitation(test.registry, crate, self, true, by, { now: test.now, seconds: 60 })
    },
  ],
  recordLogin: [
    MAKERS.filter(maker => maker !== 'rule'),
    ({ test, self, by }) => recordLogin(test.registry, personOf(test, self), by),
  ],
  linkLogin: [
    SELF,
    ({ test, self, by }) => linkLogin(test.registry, personOf(test, self), self, by),
  ],
  linkIdentity: [
    ADMIN,
    ({ database, self, by }) =>
      linkIdentity(database, self.login, { issuer: 'x', subject: self.login }, by),
  ],
  unlinkIdentity: [
    ADMIN,
    async ({ database, self, by }) => {
      const identity = { issuer: 'x', subject: self.login }
      await linkIdentity(database, self.login, identity, OPERATOR)
      return unlinkIdentity(database, self, 'x', by)
    },
  ],
  moveIssuer: [
    ['operator'],
    async ({ database, self, by }) => {
      const identity = { issuer: 'from', subject: self.login }
      await linkIdentity(database, self.login, identity, OPERATOR)
      return moveIssuer(database, 'from', 'to', by)
    },
  ],
  setMember: [
    ['operator'],
    ({ test, self, by }) => setMember(test.registry, 'rust', self.login, true, by),
  ],
  titleGroup: [
    ['operator'],
    async ({ test, self, by }) => {
      await setMember(test.registry, 'rust', self.login, true, OPERATOR)
      return titleGroup(test.registry, 'rust', 'Rust', by)
    },
  ],
  addUser: [
    ADMIN,
    ({ database, self, by }) => addUser(database, { login: `${self.login}-new`, admin: true }, by),
  ],
  setLocked: [ADMIN, ({ test, self, by }) => setLocked(test.registry, self, true, by)],
  setAdmin: [ADMIN, ({ test, self, by }) => setAdmin(test.registry, self, true, by)],
  makeLink: [ADMIN, ({ test, database, self, by }) => makeLink(database, self, test.now, by)],
  removeUser: [
    ['operator'],
    async ({ test, crate, self, other, by }) => {
      await addOwners(test.registry, crate, [other.login], OPERATOR)
      return removeUser(test.registry, self, by)
    },
  ],
  renameUser: [
    ['operator'],
    ({ test, self, by }) => renameUser(test.registry, self, `${self.login}-2`, by),
  ],
  setPassword: [
    SELF,
    ({ database, self, by }) => setPassword(database, self, { password: PASSWORD, cost: 14 }, by),
  ],
  startSession: [SELF, ({ test, database, self, by }) => startFor(test, database, self, by)],
  endSession: [
    SELF,
    async ({ test, database, self, by }) => {
      await startFor(test, database, self, OPERATOR)
      const id = (await value<number>(database, 'SELECT max(id) FROM sessions')) ?? 0
      return endSession(database, { id, user: self }, by, 'logout')
    },
  ],
  endSessions: [
    SELF,
    async ({ test, database, self, by }) => {
      await startFor(test, database, self, OPERATOR)
      return endSessions(database, self, by)
    },
  ],
  createToken: [SELF, ({ database, self, by }) => createToken(database, orderOf(self), by)],
  revokeToken: [
    SELF,
    async ({ database, self, by }) =>
      revokeToken(database, (await createToken(database, orderOf(self), OPERATOR)).id, by),
  ],
  decideVersion: [
    ADMIN,
    ({ database, crate, by }) =>
      decideVersion(database, by, { upstream: 'up', name: crate.name, version: V2 }, true),
  ],
  acceptVersion: [
    ADMIN,
    async of => {
      const [upstream, about] = [upstreamOf(of), { name: of.crate.name, version: V2 }]
      await keepAlarm(upstream.source.place, { kind: 'gone', ...about, at: AT })
      return acceptVersion(of.database, of.by, upstream, about)
    },
  ],
  'postLogin failed': [
    MAKERS.filter(maker => maker !== 'rule'),
    ({ database, by }) =>
      makeChange(database, by, 'anybody', (tx, as) => addEvent(tx, as, { action: 'login-failed' })),
  ],
  'byOwner wrong': [
    USERS,
    ({ database, by }) =>
      makeChange(database, by, 'user', (tx, as) => addEvent(tx, as, { action: 'password-wrong' })),
  ],
}

const orderOf = ({ id: userId }: User) => {
  return { userId, name: 'one', scopes: null, crates: null, expires: null }
}

function personOf({ registry }: TestRegistry, { login }: User) {
  const issuer = registry.settings.oidc.company ?? assert.fail()
  return { issuer, subject: login, logins: ['somebody'], name: null, groups: [] }
}

function startFor({ now }: TestRegistry, database: Database, { id }: User, by: Change) {
  return startSession(database, id, { agent: 'Test 1', now, seconds: 3600 }, by)
}

/** The functions in which a right is required. */
function changing(): string[] {
  const names = new Set<string>()
  for (const house of ['generator', 'daemon'])
    for (const file of readdirSync(house, { recursive: true, encoding: 'utf8' })) {
      if (!file.endsWith('.ts') || file.endsWith('records/change.ts')) continue
      const text = readFileSync(join(house, file), 'utf8')
      for (const { index } of text.matchAll(/\b(?:makeChange|requireRight)\(/g)) {
        const functions = text.slice(0, index).matchAll(/^(?:export )?(?:async )?function (\w+)/gm)
        names.add([...functions].at(-1)?.[1] ?? file)
      }
    }
  return [...names]
}

test('each change may be made by those alone who are named for it', async t => {
  const shared = ['addOwners', 'inviteOwners', 'removeOwners']
  const named = new Set(Object.keys(CHANGES).map(key => key.split(' ')[0] ?? ''))
  const wanted = changing().flatMap(name => (name === 'eachOwner' ? shared : [name]))
  assert.deepEqual([...named].sort(), wanted.sort(), 'each change has its row')

  const test = await TestRegistry.open(t, { env: { ...NO_UPSTREAM, ...NO_ISSUER } })
  const { database, settings, urls } = test.registry
  const content = buildCrate({ name: 'demo', version: '1.0.0' })
  const bytes = { content, size: content.length, cksum: 'a'.repeat(64) }
  const made = await inspect({ bytes, pubtime: AT }, settings, urls, [])
  const release = (name: string, version: string): Release => ({
    ...(made ?? assert.fail()),
    name: parseName(name),
    version: parseVersion(version),
    entry: { ...(made ?? assert.fail()).entry, name, vers: version },
  })
  const inside: Try['inside'] = work => database.transaction(work)
  const user = async (login: string, admin = false) => {
    await addUser(database, { login, admin }, OPERATOR)
    return requireUser(database, login)
  }
  const changeOf = (user: User): Change => {
    const who = { who: 'user', user, tokenId: null, stillMay: async () => user } as const
    return { at: AT, actor: user.login, ...who }
  }
  const [root, mate] = [await user('root', true), await user('mate')]
  let count = 0
  for (const [what, [may, work]] of Object.entries(CHANGES))
    for (const maker of MAKERS) {
      const name = `crate${++count}`
      const [self, other] = [await user(`self${count}`), await user(`other${count}`)]
      await inside(tx => insertAdded(tx, release(name, '1.0.0'), changeOf(self)))
      const crate = (await findCrate(database, parseName(name))) ?? assert.fail()
      const job = { kind: 'other', issuer: '', subject: '', repository: null } as const
      const grant = {
        ...{ rule: 1, crate: canonicalName(parseName(name)), owner: null },
        job: { ...job, run: null, commit: null },
      }
      const by: Readonly<Record<Maker, Change>> = {
        operator: OPERATOR,
        stranger: { at: AT, actor: 'unknown', who: 'stranger' },
        rule: { at: AT, actor: 'rule 1', who: 'rule', grant, stillMay: async () => grant },
        user: changeOf(mate),
        self: changeOf(self),
        administrator: changeOf(root),
      }
      const one: Try = { test, database, by: by[maker], self, other, crate, release, inside }
      const outcome = await work(one).then(
        () => 'done',
        (error: unknown) => {
          if (!(error instanceof Refusal)) throw error
          return error.issues.map(({ code }) => code).join()
        },
      )
      const isRight = may.includes(maker)
        ? outcome === 'done'
        : /^(?:change_forbidden|admin_only|not_owner|token_unknown|trusted_token_crate)$/.test(
            outcome,
          )
      assert.ok(isRight, `${what} by ${maker}: ${outcome}`)
    }
})
