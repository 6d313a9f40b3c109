import { refuse } from '../../core/error/error.ts'
import { sectionOf } from '../../core/settings/named.ts'
import type { Settings } from '../../core/settings/settings.ts'
import type { Database } from '../database/connection.ts'
import type { Queries } from '../database/statement.ts'
import { addEvent, type Change, makeChange } from '../records/change.ts'
import { type Records, tellFollowers } from '../records/crate-change.ts'
import { readCrate } from '../records/crates.ts'
import {
  cratesOfGroup,
  GROUP,
  type GroupRecord,
  type GroupRef,
  groupsOf,
  issuersWith,
  LOCAL,
  loginEnd,
  recordGroup,
  setGroups,
  setTitle,
} from '../records/groups.ts'
import { requireUser } from './accounts.ts'

type Issuers = Settings['oidc']

/** One line that shows as it is: names of groups stand where administrators read. */
const NAME = /^[^\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]{1,500}$/u

/** Returns whether a text can be the name of a group here; no other one counts. */
export function isGroupName(name: string): boolean {
  return NAME.test(name)
}

/** Returns `[section, name]` of `ISSUER/NAME`; the section is null without one of the settings. */
function parse(text: string, oidc: Issuers): [section: string | null, name: string] {
  const [, section = '', name = ''] = /^([^/]+)\/(.+)$/s.exec(text) ?? []
  return section === LOCAL || sectionOf(oidc, section) ? [section, name] : [null, text]
}

function refOf(section: string, name: string, oidc: Issuers): GroupRef {
  return { issuer: sectionOf(oidc, section)?.issuer ?? LOCAL, name }
}

/**
 * Returns the group that a text means, `NAME` or `ISSUER/NAME`, and records it. Refuses one that
 * nobody here has, and a name alone that two have.
 */
export async function resolveGroup(tx: Queries, text: string, oidc: Issuers): Promise<GroupRecord> {
  const [section, name] = parse(text, oidc)
  const sections = section === null ? [...Object.keys(oidc), LOCAL] : [section]
  const there = new Set(isGroupName(name) ? await issuersWith(tx, name) : [])
  const having = sections.filter(each => there.has(refOf(each, name, oidc).issuer))
  const [first, second] = having
  if (first === undefined) return refuse('group_unknown', { group: `${GROUP}${text}` })
  if (second !== undefined)
    refuse('group_ambiguous', {
      name,
      groups: having.map(each => `\`${GROUP}${each}/${name}\``).join(' or '),
    })
  return recordGroup(tx, refOf(first, name, oidc), first)
}

/** Puts a user into a group by hand, or takes them out; returns whether that changed anything. */
export async function setMember(
  { database, settings }: { readonly database: Database; readonly settings: { oidc: Issuers } },
  text: string,
  login: string,
  isMember: boolean,
  change: Change,
): Promise<boolean> {
  const [section, name] = parse(text, settings.oidc)
  if ((section ?? LOCAL) !== LOCAL) refuse('group_claimed', { group: `${GROUP}${text}` })
  if (!isGroupName(name)) refuse('group_name_invalid')
  return makeChange(database, change, 'operator', async (tx, by) => {
    const user = await requireUser(tx, login)
    const before = (await groupsOf(tx, user.id)).get(LOCAL) ?? []
    if (before.includes(name) === isMember) return false
    const names = isMember ? [...before, name] : before.filter(each => each !== name)
    await setGroups(tx, user.id, LOCAL, names, loginEnd(0, new Date(by.at)))
    if (isMember) await recordGroup(tx, { issuer: LOCAL, name }, LOCAL)
    const action = isMember ? 'group-add' : 'group-remove'
    const detail = { login: user.login, group: `${LOCAL}/${name}` }
    await addEvent(tx, by, { action, detail })
    return true
  })
}

/** Gives a group a title, which pages show beside its name; the empty one takes it away. */
export async function titleGroup(
  { database, followers, settings }: Records & { readonly settings: { oidc: Issuers } },
  text: string,
  title: string,
  change: Change,
): Promise<GroupRecord> {
  if (title !== '' && !isGroupName(title)) refuse('group_name_invalid')
  return makeChange(database, change, 'operator', async (tx, by) => {
    const group = await resolveGroup(tx, text, settings.oidc)
    await setTitle(tx, group.id, title === '' ? null : title)
    const detail = { group: group.login, title }
    const generation = await addEvent(tx, by, { action: 'group-title', detail })
    for (const id of await cratesOfGroup(tx, group.id)) {
      const crate = await readCrate(tx, id)
      if (crate) await tellFollowers(tx, followers, { crate, by, generation })
    }
    return group
  })
}
