import * as v from 'valibot'
import { type Issue, issue } from '../error/error.ts'
import { isTable } from '../toml.ts'
import {
  file,
  flag,
  hasScheme,
  integer,
  type Kind,
  line,
  list,
  maybe,
  row,
  type SettingValue,
  text,
  type Values,
} from './kind.ts'

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

const issuerUrl = text(
  'the https URL by which the issuer calls itself, to the last slash, such as "https://login.example.com/realms/acme"',
  value => {
    if (!hasScheme(value, 'https', 'http')) return false
    const { protocol, hostname, username, search, hash } = new URL(value)
    const isSafe = protocol === 'https:' || LOOPBACK.test(hostname)
    return isSafe && username === '' && search === '' && hash === '' && !/[?#]$/.test(value)
  },
)

const word = text('a word without blanks', value => /^[\x21-\x7e]{1,200}$/.test(value))
const claim = text('the name of a claim, or a JSON pointer such as "/realm_access/roles"', value =>
  /^\S(?:.{0,198}\S)?$/u.test(value),
)
const group = line(500)

/** `CLAIM=VALUE`, once for each value that will do. */
const condition = v.pipe(v.string(), v.regex(/^[^=\s][^=]*=./s))

/** Accepts a table of claims and values, or a list of `CLAIM=VALUE`, which it becomes. */
const conditions: Kind<readonly string[]> = {
  accepts: 'a table such as { hd = "acme.com" }, or a list of "hd=acme.com"',
  schema: v.array(condition),
}

// biome-ignore format: a table has a line for each setting
export const oidcRows = {
  issuer: row(maybe(issuerUrl), null, 'The issuer, exactly as it calls itself in its discovery document.'),
  client_id: row(maybe(line(500)), null, 'What the issuer calls this registry.'),
  client_secret_file: row(maybe(file), null, 'File with the secret of the client; none for a client without one.'),
  title: row(line(60), '', 'What the button says after "Log in with"; "" is the name of the section.'),
  scopes: row(list(word), ['openid', 'profile'], 'What the registry asks the issuer for; `openid` always, and `email` where `login_claims` or `require` names it.'),
  login_claims: row(list(claim), ['preferred_username', 'nickname'], 'Claims that give a new account its name: the first that can be a username; of a mail address counts what stands before the @.'),
  subject_claim: row(claim, 'sub', 'The claim by which an account is found again. It must never be given to somebody else: not a name, not a mail address.'),
  groups_claim: row(claim, 'groups', "The claim with somebody's groups; a nested one as a JSON pointer, such as `/realm_access/roles`."),
  require: row(conditions, [], 'Claims that must have a value, such as `{ hd = "acme.com" }`; of several values one has to be there. As a variable `hd=acme.com,…`.'),
  admin_groups: row(list(group), [], 'Groups whose members are administrators, and nobody else who logs in here. Empty: a login changes nobody\'s rights.'),
  allowed_groups: row(list(group), [], 'Groups whose members may log in; empty: everybody whom `require` lets in.'),
  provision: row(flag, true, 'Whether a first login makes an account; otherwise an administrator links one.'),
  token_days: row(integer(0, 3650), 30, 'Tokens and sessions of an account answer while its owner has logged in at the issuer within so many days; 0: for ever.'),
}

/** The settings of one issuer of logins. */
export type OidcSettings = Values<typeof oidcRows> & {
  readonly name: string
  readonly issuer: string
  readonly client_id: string
}

/** Returns a table of `require` as the list that it stands for; other values as they are. */
export function conditionList(raw: unknown): unknown {
  if (!isTable(raw)) return raw
  return Object.entries(raw).flatMap(([name, value]) =>
    [value].flat().map(each => `${name}=${typeof each === 'object' ? '' : String(each)}`),
  )
}

/** Hosts where anybody may have an account. */
const STRANGERS = new Set(
  (
    'accounts.google.com appleid.apple.com gitlab.com github.com codeberg.org bitbucket.org ' +
    'gitea.com login.yahoo.com api.login.yahoo.com linkedin.com facebook.com discord.com ' +
    'id.twitch.tv slack.com login.live.com paypal.com login.salesforce.com orcid.org ' +
    'access.line.me login.launchpad.net framagit.org salsa.debian.org gitlab.gnome.org ' +
    'gitlab.freedesktop.org invent.kde.org'
  ).split(' '),
)

const MICROSOFT =
  /(?:^|\.)(?:microsoftonline\.(?:com|us|de|cn)|windows\.net|login\.microsoft\.com)$/
/** Tenants that are nobody's own; the last is that of private accounts. */
const COMMON = /^\/(?:common|organizations|consumers|9188040d-6c67-4c5b-b112-36a304b66dad)(?:\/|$)/i

/** Returns what is wrong with the settings of logins as a whole. */
export function checkOidc(
  names: readonly string[],
  read: (key: string) => SettingValue | undefined,
): Issue[] {
  const issues: Issue[] = []
  const seen = new Map<string, string>()
  if (names.includes('local')) issues.push(issue('oidc_local'))
  for (const name of names) {
    const of = (key: string) => read(`oidc.${name}.${key}`) ?? null
    for (const key of ['issuer', 'client_id'])
      if (of(key) === null)
        issues.push(
          issue('setting_missing', { key: `oidc.${name}.${key}`, because: `oidc.${name}` }),
        )
    const issuer = of('issuer')
    if (typeof issuer !== 'string') continue
    const first = seen.get(issuer)
    if (first !== undefined)
      issues.push(issue('oidc_issuer_twice', { first, second: name, issuer }))
    seen.set(issuer, name)
    const { hostname, pathname } = new URL(issuer)
    if (MICROSOFT.test(hostname) && COMMON.test(pathname))
      issues.push(issue('oidc_common', { name, issuer }))
    const isOpen = [of('require'), of('allowed_groups')].every(
      value => Array.isArray(value) && value.length === 0,
    )
    if (isOpen && isForStrangers(hostname)) issues.push(issue('oidc_strangers', { name, issuer }))
  }
  if (read('auth.passwords') === 'off' && names.length === 0)
    issues.push(issue('passwords_off_alone'))
  return issues
}

function isForStrangers(hostname: string): boolean {
  return STRANGERS.has(hostname.replace(/^www\./, '').replace(/\.$/, ''))
}
