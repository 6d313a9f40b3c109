import type { MessageTable } from '../kind.ts'

/** What is wrong with the settings and the files that they name. */
export const settingMessages = {
  misuse: {
    settings_syntax: (p: { file: string; line: number; column: number; problem: string }) =>
      `${p.file}, line ${p.line}, column ${p.column}: this is not TOML: ${p.problem}`,
    setting_unknown: (p: {
      where: string
      key: string
      suggestion: string | null
      accepted: readonly string[]
    }) =>
      `${p.where}: there is no setting \`${p.key}\`${p.suggestion === null ? ';' : `; did you mean \`${p.suggestion}\`?`} accepted: ${p.accepted.join(', ')}`,
    setting_invalid: (p: { where: string; key: string; given: string; accepts: string }) =>
      `${p.where}: \`${p.key}\` cannot be ${p.given}; accepted: ${p.accepts}`,
    setting_twice: (p: { key: string; first: string; second: string }) =>
      `\`${p.key}\` is set differently by ${p.first} and by ${p.second}; remove one of them`,
    setting_missing: (p: { key: string; because: string }) =>
      `\`${p.because}\` is set but \`${p.key}\` is not; set both or neither`,
    tls_unreadable: (p: { path: string; reason: string }) =>
      `the TLS file ${p.path} cannot be read: ${p.reason}`,
    tls_invalid: (p: { path: string; what: string; reason: string }) =>
      `the TLS file ${p.path} does not hold ${p.what} in PEM: ${p.reason}`,
    tls_mismatch: (p: { cert: string; key: string }) =>
      `the private key in ${p.key} does not belong to the certificate in ${p.cert}`,
  },
} as const satisfies MessageTable
