import type { MessageTable } from '../kind.ts'

/** Errors in the settings and the files that they name. */
export const settingMessages = {
  misuse: {
    settings_syntax: '{file}, line {line}, column {column}: this is not TOML: {problem}',
    setting_unknown: (p: {
      where: string
      key: string
      suggestion: string | null
      accepted: readonly string[]
    }) =>
      `${p.where}: there is no setting \`${p.key}\`${p.suggestion === null ? ';' : `; did you mean \`${p.suggestion}\`?`} accepted: ${p.accepted.join(', ')}`,
    setting_invalid: '{where}: `{key}` cannot be {given}; accepted: {accepts}',
    setting_twice: '`{key}` is set differently by {first} and by {second}; remove one of them',
    setting_missing: '`{because}` is set but `{key}` is not; set both or neither',
    tls_unreadable: 'the TLS file {path} cannot be read: {reason}',
    tls_invalid: 'the TLS file {path} does not contain {what} in PEM: {reason}',
    tls_mismatch: 'the private key in {key} does not belong to the certificate in {cert}',
  },
} as const satisfies MessageTable
