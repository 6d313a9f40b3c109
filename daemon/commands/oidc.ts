import { refuse } from '../../core/error/error.ts'
import { counted } from '../../core/quantity.ts'
import type { User } from '../../generator/accounts/accounts.ts'
import {
  type LinkOptions,
  linkIdentity,
  linkOrder,
  moveIssuer,
} from '../../generator/accounts/oidc-identities.ts'
import { type RegistryTask, registryCommand } from '../../generator/cli/console/command.ts'
import type { Change } from '../../generator/records/change.ts'
import { recordIssuers } from '../../generator/records/groups.ts'
import type { Registry } from '../../generator/registry/registry.ts'

/** The options of `user link` that link an account to an issuer. */
export const linkRows = {
  '--issuer <name>': 'instead link the account to one of `[oidc.NAME]`, the name of that section',
  '--subject <value>': 'by what the issuer knows the user: the claim `subject_claim`',
  '--keep-password': 'with --issuer: the password still logs in, while a login there is due',
}

/** Links an account as the options say, and says so; null if they say nothing. */
export async function linkAccount(
  { database, settings }: Registry,
  { login }: User,
  options: LinkOptions,
  change: Change,
): Promise<string | null> {
  if (['issuer', 'subject', 'keepPassword'].every(name => !(name in options))) return null
  const order = linkOrder(settings.oidc, options)
  await linkIdentity(database, login, order, change)
  return `${login} logs in at ${order.issuer} as ${order.subject}`
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
    // Such as the name of a section, or that of groups by hand.
    for (const issuer of [from, to]) if (!URL.canParse(issuer)) refuse('issuer_no_url', { issuer })
    const moved = await moveIssuer(registry.database, from, to, change)
    await recordIssuers(registry.database, registry.settings.oidc)
    report(moved, [
      `moved ${counted(moved.accounts, 'account')} and ${counted(moved.groups, 'group')}`,
    ])
  },
})
