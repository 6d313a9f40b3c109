import type { MessageTable } from './kind.ts'

// biome-ignore format: a message is one line, which a search for its words shows with its code.
export const webhookMessages = {
  invalid: {
    yank_message_unyank: 'Cannot set yank message when unyanking',
    yank_message_unyanked: 'Cannot update yank message for a version that is not yanked',
    successor_invalid: '`{use}` cannot be used instead: name a crate, or an address that begins with https://',
    deprecations_many: 'this crate has {max} deprecated ranges of versions; take one back, or write a wider one',
    requirement_long: 'a requirement of a deprecation has at most {max} characters; write a shorter one',
    dependency_yanked: (p: { name: string; req: string; reason: string | null }) => `every version of the dependency \`${p.name}\` that fits \`${p.req}\` is yanked${p.reason === null ? '' : `: ${p.reason}`}; require another one`,
    dependency_deprecated: (p: { name: string; reason: string | null; use: string | null }) => `the dependency \`${p.name}\` is deprecated${p.reason === null ? '' : `: ${p.reason}`}${p.use === null ? '' : `; use ${p.use} instead`}`,
    reason_invalid: 'a reason is one paragraph of 1 to 500 characters, without line breaks, control characters and marks of text direction',
  },
  misuse: {
    reason_missing: 'say why it is deprecated, with --reason',
    webhook_unknown: 'there is no webhook `{name}`; add a section [webhook.{name}] to plimsoll.toml',
    webhook_secret: '{path} has no secret for the webhook `{name}`; write one line, or two while it is changed: `whsec_` and the base64 of 24 to 64 random bytes',
  },
  failed: {
    webhook_failed: 'the webhook `{name}` did not take an event: {reason}',
  },
} as const satisfies MessageTable
