import * as v from 'valibot'
import { type Issue, issue } from '../error/error.ts'
import { isTable } from '../toml.ts'
import { isPublic, issuerUrl } from './issuer.ts'
import {
  file,
  flag,
  integer,
  type Kind,
  line,
  list,
  maybe,
  required,
  row,
  text,
  type Values,
} from './kind.ts'

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
  issuer: required(issuerUrl, 'The issuer, exactly as it calls itself in its discovery document.'),
  client_id: required(line(500), 'What the issuer calls this registry.'),
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
export type OidcSettings = Values<typeof oidcRows> & { readonly name: string }

/** Returns a table of `require` as the list that it stands for; other values as they are. */
export function conditionList(raw: unknown): unknown {
  if (!isTable(raw)) return raw
  return Object.entries(raw).flatMap(([name, value]) =>
    [value].flat().map(each => `${name}=${typeof each === 'object' ? '' : String(each)}`),
  )
}

const MICROSOFT =
  /(?:^|\.)(?:microsoftonline\.(?:com|us|de|cn)|windows\.net|login\.microsoft\.com)$/
/** Tenants that are nobody's own; the last is that of private accounts. */
const COMMON = /^\/(?:common|organizations|consumers|9188040d-6c67-4c5b-b112-36a304b66dad)(?:\/|$)/i

/** Returns what is wrong with an issuer of logins. */
export function checkOidc({ name, issuer, require, allowed_groups }: OidcSettings): Issue[] {
  const { hostname, pathname } = new URL(issuer)
  const isCommon = MICROSOFT.test(hostname) && COMMON.test(pathname)
  const isOpen = require.length + allowed_groups.length === 0 && isPublic(issuer)
  return [
    ...(name === 'local' ? [issue('oidc_local')] : []),
    ...(isCommon ? [issue('oidc_common', { name, issuer })] : []),
    ...(isOpen ? [issue('oidc_strangers', { name, issuer })] : []),
  ]
}
