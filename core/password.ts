import { type Issue, issue } from './error/error.ts'

/** Characters: length helps more than symbols (NIST SP 800-63B §3.1.1). The maximum bounds work. */
export const PASSWORD_SHORTEST = 10
const LONGEST = 200

/** Returns why a password is refused, as a list of issues; empty for a good one. */
export function passwordIssues(password: string, login: string): Issue[] {
  const { length } = [...password]
  if (length < PASSWORD_SHORTEST) return [issue('password_short', { min: PASSWORD_SHORTEST })]
  if (length > LONGEST) return [issue('password_long', { max: LONGEST })]
  if (/\p{Cc}/u.test(password)) return [issue('password_control')]
  if (
    password.toLowerCase().includes(login.toLowerCase()) &&
    length < login.length + PASSWORD_SHORTEST
  ) {
    return [issue('password_is_login')]
  }
  return []
}
