import { refuse } from '../../core/error/error.ts'
import { counted } from '../../core/quantity.ts'
import type { User } from '../../generator/accounts/accounts.ts'
import {
  issuerSection,
  linkIdentity,
  moveIssuer,
} from '../../generator/accounts/oidc-identities.ts'
import { type RegistryTask, registryCommand } from '../../generator/cli/console/command.ts'
import type { Change } from '../../generator/records/change.ts'
import { recordIssuers } from '../../generator/records/groups.ts'
import type { Registry } from '../../generator/registry/registry.ts'

/** The options of `user link` that link an account to an issuer. */
export interface LinkOptions {
  readonly issuer?: string
  readonly subject?: string
  readonly keepPassword?: boolean
}

export const linkRows = {
  '--issuer <name>': 'instead link the account to one of `[oidc.NAME]`, the name of that section',
  '--subject <value>': 'by what the issuer knows the user: the claim `subject_claim`',
  '--keep-password': 'with --issuer: the password still logs in, while a login there is due',
}

/** Links an account as the options say; null if they say nothing. Refuses half of them. */
export async function linkAccount(
  { database, settings }: Registry,
  { login }: User,
  { issuer: name, subject, keepPassword = false }: LinkOptions,
  change: Change,
): Promise<string | null> {
  if (name === undefined && subject === undefined && !keepPassword) return null
  if (name === undefined || subject === undefined) return refuse('link_incomplete')
  const { issuer } = issuerSection(settings.oidc, name)
  await linkIdentity(database, login, { issuer, subject, keepPassword, loggedIn: null }, change)
  return `${login} logs in at ${issuer} as ${subject}`
}

export const registerMoveIssuer = registryCommand('move-issuer', {
  about: 'have accounts, groups and owners follow an issuer to another URL',
  takes: { '<old>': 'the URL that accounts have', '<new>': 'the URL that the issuer has now' },
  examples: {
    'plimsoll user move-issuer https://login.old.example https://login.example.com':
      'after `issuer` in the settings was changed',
  },
  json: 'an object: `accounts` and `groups`, how many were moved',
  fails: 'no account has the old URL, or both have an account of the same subject',
  async run({ registry, change, report }: RegistryTask, from: string, to: string) {
    const moved = await moveIssuer(registry.database, from, to, change)
    await recordIssuers(registry.database, registry.settings.oidc)
    report(moved, [
      `moved ${counted(moved.accounts, 'account')} and ${counted(moved.groups, 'group')}`,
    ])
  },
})
