import { refuse } from '../../core/error/error.ts'
import type { Name } from '../../core/name.ts'
import { lookAlikeKeys, lookAlikeSkeleton } from '../../core/policy/look-alike.ts'
import { column, type Queries } from '../database/statement.ts'

/** Names that pages, messages and the audit log use for others, and what looks like rights. */
const RESERVED =
  'admin administrator root operator the-operator local unknown command-line group stranger plimsoll system removed'.split(
    ' ',
  )

/** What looks like the names of jobs in the audit log, such as `rule 3`; a number would not help. */
const RULE = /^rule_?[0-9lo]+$/

/** More people of one name than a registry has. */
const MOST = 999
const LONGEST = 39

/**
 * Returns the username for a new account: the first of the texts that can be one, what stands
 * before an @ counts; with a number where somebody has, had or could be taken for it.
 * Refuses if none of the texts gives a name. Reads the names of all users.
 */
export async function chooseLogin(tx: Queries, texts: readonly string[]): Promise<string> {
  const forms = texts.map(text => text.split('@', 1)[0]?.trim() ?? '')
  const isGood = (form: string) =>
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,38}$/.test(form) && !RULE.test(skeleton(`${form}1`))
  const base = forms.find(isGood)
  if (base === undefined) return refuse('oidc_no_name')
  const sql = 'SELECT canonical FROM users UNION SELECT canonical FROM former_logins'
  const taken = new Set([...RESERVED, ...(await column<string>(tx, sql))].map(skeleton))
  for (let number = 1; number <= MOST; number++) {
    const end = number === 1 ? '' : String(number)
    const login = `${base.slice(0, LONGEST - end.length)}${end}`
    if (!lookAlikeKeys(asName(login)).some(key => taken.has(key))) return login
  }
  return refuse('oidc_no_name')
}

function skeleton(login: string): string {
  return lookAlikeSkeleton(asName(login))
}

/** Points look like other separators; the rules for crates know none. */
function asName(login: string): Name {
  return login.replaceAll('.', '_') as Name
}
