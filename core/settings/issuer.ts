import * as v from 'valibot'
import { type Issue, issue } from '../error/error.ts'
import {
  choice,
  fileOrNone,
  flag,
  hasScheme,
  isLine,
  type Kind,
  line,
  list,
  required,
  row,
  text,
  type Values,
  webUrlOrNone,
} from './kind.ts'

/** `iss` is compared with it letter by letter, so it stays as it was written. */
export const issuerUrl = text(
  'the https URL by which the issuer calls itself, to the last slash, such as "https://login.example.com/realms/acme"',
  value => isLine(value) && isWebOrLoopback(value) && !/[?#]/.test(value),
)

const keysUrl: Kind<string> = {
  ...webUrlOrNone,
  schema: v.pipe(
    v.string(),
    v.check(value => value === '' || isWebOrLoopback(value)),
  ),
}

const shared: Kind<'auto' | boolean> = {
  accepts: '"auto", true or false',
  schema: v.union([v.literal('auto'), v.boolean()]),
}

const kinds = choice('github', 'gitlab', 'forgejo', 'buildkite', 'kubernetes', 'other')

// biome-ignore format: a table has a line for each setting
export const issuerRows = {
  issuer: required(issuerUrl, 'The `iss` of its tokens, exactly; `github` and `gitlab` have a default: `https://token.actions.githubusercontent.com` and `https://gitlab.com`.'),
  kind: required(kinds, 'Which claims name the owner of a job; `github` and `gitlab` have themselves as default.'),
  audience: row(list(line(500)), [], 'The accepted `aud`; by default `api` of config.json without its scheme, which the official action of crates.io sends.'),
  jwks_uri: row(keysUrl, '', 'Where its keys are, instead of what its discovery says.'),
  jwks_file: row(fileOrNone, '', 'File with its keys, so that nothing is fetched.'),
  ca_file: row(fileOrNone, '', 'Certificates in PEM to trust for it, instead of `outgoing.ca_file`.'),
  reuse: row(flag, false, 'Whether a token may be exchanged more than once, as where it is a file that stays for an hour; refused for shared issuers.'),
  shared: row(shared, 'auto', 'Whether strangers use this issuer, so that a rule has to name an owner; "auto": by its host. Hosts of the kind `other` are shared until it is false.'),
}

/** The settings of one issuer. */
export type IssuerSettings = Values<typeof issuerRows> & { readonly name: string }

export type IssuerKind = IssuerSettings['kind']

/** Hosts where anybody may have an account, or a job. */
const PUBLIC_HOSTS: ReadonlySet<string> = new Set(
  (
    'token.actions.githubusercontent.com github.com gitlab.com agent.buildkite.com codeberg.org ' +
    'code.forgejo.org gitea.com oidc.circleci.com bitbucket.org api.bitbucket.org framagit.org ' +
    'salsa.debian.org gitlab.gnome.org gitlab.freedesktop.org invent.kde.org slack.com ' +
    'accounts.google.com appleid.apple.com login.yahoo.com api.login.yahoo.com linkedin.com ' +
    'facebook.com discord.com id.twitch.tv login.live.com paypal.com login.salesforce.com ' +
    'orcid.org access.line.me login.launchpad.net'
  ).split(' '),
)

/** Returns whether an issuer is one where strangers have accounts, too. */
export function isPublic(issuer: string): boolean {
  return PUBLIC_HOSTS.has(new URL(issuer).hostname.replace(/^www\.|\.$/g, ''))
}

/** Returns whether strangers use an issuer, too: then a rule has to name who may publish. */
export function isShared({
  issuer,
  kind,
  shared,
}: Pick<IssuerSettings, 'issuer' | 'kind' | 'shared'>): boolean {
  if (isPublic(issuer) || kind === 'buildkite') return true
  return shared === 'auto' ? kind === 'other' : shared
}

/** Returns what is wrong with an issuer. */
export function checkIssuer({ name, issuer, kind, shared, reuse }: IssuerSettings): Issue[] {
  const isOpen = isShared({ issuer, kind, shared })
  return [
    ...(shared === false && isOpen ? [issue('issuer_shared', { name, issuer })] : []),
    ...(reuse && isOpen ? [issue('issuer_reuse', { name })] : []),
  ]
}

/** Whether a host is this machine, by its name or address in a URL. */
export function isLoopback(hostname: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname)
}

function isWebOrLoopback(value: string): boolean {
  if (!hasScheme(value, 'http', 'https')) return false
  const { protocol, hostname, username } = new URL(value)
  return username === '' && (protocol === 'https:' || isLoopback(hostname))
}
