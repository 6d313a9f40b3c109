import type { MessageTable } from '../kind.ts'

/** Objections about users, passwords, sessions, tokens, owners, and how often somebody comes. */
export const accountMessages = {
  misuse: {
    login_invalid: (p: { login: string }) =>
      `\`${p.login}\` cannot be a login; use 1 to 39 letters, digits, \`.\`, \`_\` and \`-\`, a letter or digit first`,
    token_access_absent: () => 'choose full access or at least one permission',
    token_name_invalid: () =>
      'a token needs a name of 1 to 100 characters on one line, such as what it is for',
    crate_pattern_invalid: (p: { pattern: string }) =>
      `\`${p.pattern}\` can match no crate; write a crate name, or a beginning followed by \`*\``,
  },
  unauthorized: {
    token_withdrawn: () =>
      'the token was revoked, or its user locked out, while the request arrived; nothing was changed',
  },
  forbidden: {
    password_wrong: () => 'the current password is not right; nothing was changed',
    login_failed: () =>
      'login or password is not right, or the account is locked; try again or ask an administrator',
    link_invalid: () =>
      'this link is not valid: it was used, is older than 24 hours or was replaced by a newer one; ask an administrator for another',
    session_absent: () => 'you are not logged in, or no longer; log in and repeat what you did',
    admin_only: () => 'only administrators may do that; ask one of them',
    form_rejected: () =>
      'the form came from another page or is too old, so nothing was done; load its page again and repeat it there',
  },
  too_many: {
    rate_limited: (p: { what: string; seconds: number }) =>
      `too many ${p.what} in a short time; try again in ${p.seconds} ${p.seconds === 1 ? 'second' : 'seconds'}`,
    crates_too_many: (p: { login: string; max: number }) =>
      `\`${p.login}\` has published ${p.max} new ${p.max === 1 ? 'crate' : 'crates'} within 24 hours, and no more are allowed; publish again later`,
    versions_too_many: (p: { name: string; max: number }) =>
      `\`${p.name}\` has had ${p.max} new versions within 24 hours, and no more are allowed; publish again later`,
  },
  busy: {
    logins_busy: () => 'too many people are logging in at the moment; try again in a few seconds',
  },
  invalid: {
    login_taken: (p: { login: string }) =>
      `there is a user \`${p.login}\` already; nothing was changed`,
    login_unknown: (p: { login: string }) =>
      `there is no user \`${p.login}\`; add one with \`plimsoll user add ${p.login}\``,
    token_unknown: (p: { id: number | string }) =>
      `there is no token ${p.id}, or it is revoked; \`plimsoll token list\` and \`/me\` show those there are`,
    tokens_too_many: (p: { max: number }) =>
      `nobody may have more than ${p.max} tokens here; revoke one that is no longer used`,
    user_locked: (p: { login: string }) => `\`${p.login}\` is locked out; unlock the account first`,
    admin_last: (p: { login: string }) =>
      `\`${p.login}\` is the last administrator; make somebody else one first, so that the registry is not left without`,
    own_account: () =>
      'nobody locks or demotes their own account; ask another administrator to do it',
    password_lines: () => 'a password is one line; give nothing else on standard input',
    password_short: (p: { min: number }) =>
      `a password needs at least ${p.min} characters; several words are a good one`,
    password_long: (p: { max: number }) => `a password may have at most ${p.max} characters`,
    password_control: () => 'a password is plain text; this one has control characters in it',
    password_is_login: () =>
      'the password is little more than the login; choose one that cannot be guessed from it',
    session_unknown: () => 'there is no such session; it may have ended already',
    invitation_unknown: (p: { name: string }) =>
      `there is no invitation to own \`${p.name}\` for you, or not any more; ask one of its owners for another`,
    owner_no_user: (p: { login: string; name: string }) =>
      `there is no user \`${p.login}\` here, so the owners of \`${p.name}\` stay as they are; check the spelling of the login`,
    owner_unknown: (p: { login: string; name: string }) =>
      `\`${p.login}\` is not an owner of \`${p.name}\``,
    owner_last: (p: { name: string }) =>
      `\`${p.name}\` would be left without an owner; add another one first with \`cargo owner --add\``,
    owners_too_many_named: (p: { max: number }) =>
      `the request names more users than the ${p.max} that may be named at once; name the others in another one`,
    owners_none_named: () =>
      'the request names no users; send a JSON object such as {"users": ["alice"]}',
    form_invalid: () => 'the form could not be read; load its page again and repeat it there',
  },
} as const satisfies MessageTable
