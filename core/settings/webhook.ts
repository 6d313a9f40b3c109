import { choice, file, flag, hasScheme, list, required, row, text, type Values } from './kind.ts'

/** What webhooks tell. */
export const EVENT_TYPES = [
  'release.published',
  'release.yanked',
  'release.unyanked',
  'release.deleted',
  'crate.owners',
  'crate.deprecated',
  'advisory.matched',
  'upstream.alarm',
] as const

export type EventType = (typeof EVENT_TYPES)[number]

const target = text('an http or https URL without user', value => {
  if (!hasScheme(value, 'http', 'https')) return false
  const { username, password } = new URL(value)
  return username === '' && password === ''
})

// biome-ignore format: a table has a line for each setting
export const webhookRows = {
  url: required(target, 'Where events are sent.'),
  secret_file: required(file, 'File with the secret that signs them: `whsec_` and 24 to 64 bytes in base64; two lines while it is changed.'),
  events: row(list(choice(...EVENT_TYPES)), [], 'Which events; empty: all.'),
  private: row(flag, false, 'Whether the address may be a private one.'),
}

/** The settings of one webhook. */
export type WebhookSettings = Values<typeof webhookRows> & { readonly name: string }
