import type { Kind } from './kind.ts'
import { accountMessages } from './messages/accounts.ts'
import { commandMessages } from './messages/commands.ts'
import { crateMessages } from './messages/crate.ts'
import { gitMessages } from './messages/git.ts'
import { importMessages } from './messages/import.ts'
import { policyMessages } from './messages/policy.ts'
import { registryMessages } from './messages/registry.ts'
import { requestMessages } from './messages/requests.ts'
import { settingMessages } from './messages/settings.ts'

/** Longest text from outside that a message repeats. */
const QUOTED_MAX = 500

const tables = [
  accountMessages,
  commandMessages,
  crateMessages,
  gitMessages,
  importMessages,
  policyMessages,
  registryMessages,
  requestMessages,
  settingMessages,
] as const

type EachTable<T> = T extends object ? T[keyof T] : never
type Merged<U> = (U extends unknown ? (one: U) => void : never) extends (all: infer A) => void
  ? A
  : never
type Messages = Merged<EachTable<(typeof tables)[number]>>

/** The code of an objection: one for each message. */
export type Code = keyof Messages

/** What the message of a code is made from. */
export type Params<C extends Code> = Messages[C] extends (...params: infer P) => string ? P : never

interface CatalogEntry {
  readonly kind: Kind
  readonly word: (params: unknown) => string
}

const catalog: ReadonlyMap<string, CatalogEntry> = new Map(
  tables.flatMap(table =>
    Object.entries(table).flatMap(([kind, messages]) =>
      Object.entries<CatalogEntry['word']>(messages).map(
        ([code, word]) => [code, { kind: kind as Kind, word }] as const,
      ),
    ),
  ),
)

/** The kind of an objection. */
export function kindOf(code: Code): Kind {
  return entryOf(code).kind
}

/** The message of an objection; what it quotes is clipped and cannot steer a terminal. */
export function message<C extends Code>(code: C, [params]: Params<C>): string {
  return entryOf(code).word(quoted(params))
}

function entryOf(code: string) {
  const entry = catalog.get(code)
  if (!entry) throw new Error(`there is no message ${code}`)
  return entry
}

/** Clips long text and escapes control characters, line breaks and direction marks. */
function quoted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(quoted)
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, quoted(one)]))
  return typeof value === 'string' ? quotedText(value) : value
}

/** Text from outside for a message: clipped, without what could steer a terminal. */
export function quotedText(text: string): string {
  const clipped = text.length > QUOTED_MAX ? `${text.slice(0, QUOTED_MAX - 1)}…` : text
  return clipped.replace(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    character => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  )
}
