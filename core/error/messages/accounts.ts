import type { MessageTable } from './kind.ts'

export const accountMessages = {
  misuse: {
    login_invalid:
      '`{login}` cannot be a username; use 1 to 39 letters, digits, `.`, `_` and `-`, and begin with a letter or digit',
    token_access_absent: 'choose full access or at least one permission',
    link_incomplete:
      '--issuer and --subject belong together, and --keep-password to both; without them, a link is printed',
    password_no_terminal:
      'there is no terminal at which to ask for the password; pass it with --password-stdin',
    token_id_invalid: '`{id}` is not the number of a token; `plimsoll token list` has them',
    token_name_invalid:
      'a token needs a name of 1 to 100 characters on one line, such as its purpose',
    token_read_limited:
      'a token for certain crates cannot have the permission `read`, which is for the whole registry; leave one of them out, and keep crates that only some people may read in a registry of their own',
    crate_pattern_invalid:
      '`{pattern}` matches no crate; write a crate name, or the start of one followed by `*`',
  },
  unauthorized: {
    token_withdrawn:
      'the token was revoked or its user was locked while the request arrived; nothing was changed',
  },
  forbidden: {
    password_wrong: 'the current password is wrong; nothing was changed',
    login_failed:
      'the username or the password is wrong, or the account is locked; try again or ask an administrator',
    login_elsewhere:
      'this account has to log in at its issuer again: use its button on the login page, or ask an administrator',
    passwords_off:
      'nobody logs in with a password here (`auth.passwords`); use the button of the issuer, or ask an administrator',
    oidc_lost:
      'this login was begun in another browser, or too long ago, or it is used up; log in again',
    oidc_refused: 'the issuer did not let you in: {reason}; log in again, or ask an administrator',
    oidc_untrusted:
      'the answer of the issuer cannot be trusted, so nobody was logged in: {reason}; tell the operator of this registry',
    oidc_not_required:
      'your account at the issuer may not log in here: its claim `{claim}` has another value; ask an administrator',
    oidc_not_allowed:
      'your account at the issuer is in none of the groups that may log in here; ask an administrator',
    oidc_no_account:
      'there is no account here for yours at the issuer; ask an administrator to link it: `plimsoll user link NAME --issuer {issuer} --subject {subject}`',
    oidc_no_subject:
      'the issuer sends no claim `{claim}`, by which accounts are found; tell the operator of this registry',
    oidc_locked: 'the account is locked here; ask an administrator to unlock it',
    oidc_no_name:
      'none of the claims in `login_claims` gives a username that is free; ask an administrator to link an account',
    oidc_taken: 'the account `{login}` has this identity already; nothing was changed',
    link_invalid:
      'this link is not valid: it was used or replaced by a newer one; ask an administrator for a new one',
    link_locked: 'the account of this link is locked; ask an administrator to unlock it',
    link_expired: 'this link has expired; ask an administrator for a new one',
    session_absent: 'you are not logged in, or your session has ended; log in and try again',
    admin_only: 'only administrators may do that; ask an administrator',
    change_forbidden:
      '`{actor}` may not make this change, so nothing was changed; ask an administrator or the operator',
    form_rejected:
      'the form came from another site or is too old, so nothing was changed; reload its page and try again',
  },
  too_many: {
    rate_limited: (p: { what: string; seconds: number }) =>
      `too many ${p.what} in a short time; try again in ${p.seconds} ${p.seconds === 1 ? 'second' : 'seconds'}`,
    crates_too_many: (p: { login: string; max: number }) =>
      `\`${p.login}\` has published ${p.max} new ${p.max === 1 ? 'crate' : 'crates'} within 24 hours, which is the limit; publish again later`,
    publishes_waiting:
      '{max} publishes of this account are already waiting to be checked; publish again when they are answered',
    versions_too_many:
      '`{name}` has had {max} new versions within 24 hours, which is the limit; publish again later',
  },
  busy: {
    oidc_away:
      'the issuer of logins cannot be asked right now: {reason}; who is logged in stays so, others try again later',
    logins_busy: 'too many people are logging in right now; try again in a few seconds',
  },
  invalid: {
    login_taken: 'the user `{login}` already exists; nothing was changed',
    login_gone:
      'the user `{login}` was removed or renamed, and the name stays taken; `plimsoll user list` has the users',
    login_unknown: 'there is no user `{login}`; add one with `plimsoll user add {login}`',
    token_unknown:
      'there is no token {id}, or it is revoked; `plimsoll token list` and `/me` list the tokens',
    tokens_too_many:
      'a user may have at most {max} tokens (`limits.tokens_per_user`); revoke one that is no longer used',
    group_unknown:
      'nobody who has logged in has the group `{group}`, and there is none by hand; check the spelling, or make one with `plimsoll group add`',
    group_ambiguous: 'two groups have the name `{name}`: write {groups}',
    group_claimed:
      '`{group}` is a group of the issuer, whose claims say who is in it; only groups of your own, `group:NAME`, are made by hand',
    group_name_invalid: 'the name or title of a group is one line of at most 500 characters',
    user_machine:
      '`{login}` is the account of a machine, in which nobody logs in; `plimsoll token create --user {login}` makes its tokens',
    issuer_subject_twice:
      'both {from} and {to} have an account `{subject}`, which may be that of two people, so nothing was changed; link one of them by hand',
    issuer_unused:
      'no account or group here is of the issuer `{issuer}`; write its URL as `plimsoll user list --json` has it',
    issuer_section_unknown:
      'there is no section `[oidc.{name}]` in the settings; write the name of one of them',
    user_locked: '`{login}` is locked; unlock the account first',
    user_sole_owner:
      '`{login}` is the only owner of {crates}, so nothing was changed; add another owner first, with `plimsoll owner add` or as an administrator at `/me`',
    admin_last: '`{login}` is the last administrator; make another user an administrator first',
    own_account: 'you cannot lock or demote your own account; ask another administrator to do it',
    passwords_differ: 'the two passwords differ; nothing was changed',
    password_lines: 'a password is one line; write nothing else to standard input',
    password_short: 'a password needs at least {min} characters; several words make a good one',
    password_long: 'a password may have at most {max} characters',
    password_control: 'a password must not contain control characters',
    password_is_login:
      'the password is too similar to the username; choose one that cannot be guessed from it',
    session_unknown: 'there is no such session; it may have ended already',
    invitation_unknown:
      'there is no invitation to own `{name}` for you, or it has ended; ask one of its owners for a new one',
    owner_no_user:
      'there is no user `{login}` here, so the owners of `{name}` stay as they are; check the spelling',
    owner_unknown: '`{login}` is not an owner of `{name}`',
    owner_last: '`{name}` would have no owner left; add another one first with `cargo owner --add`',
    owners_too_many_named:
      'the request names more than {max} users; name the others in another request',
    owners_none_named: () =>
      'the request names no users; send a JSON object such as {"users": ["alice"]}',
    form_invalid: 'the form could not be read; reload its page and try again',
  },
} as const satisfies MessageTable
