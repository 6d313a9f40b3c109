import { counted, dateText, formatBytes } from '../quantity.ts'
import { accountMessages } from './messages/accounts.ts'
import { advisoryMessages } from './messages/advisory.ts'
import { commandMessages } from './messages/commands.ts'
import { crateMessages } from './messages/crate.ts'
import { gitMessages } from './messages/git.ts'
import { importMessages } from './messages/import.ts'
import type { Kind, Wording } from './messages/kind.ts'
import { policyMessages } from './messages/policy.ts'
import { registryMessages } from './messages/registry.ts'
import { storageMessages } from './messages/storage.ts'
import { trustMessages } from './messages/trust.ts'
import { webhookMessages } from './messages/webhook.ts'

const QUOTED_MAX = 500

const tables = [
  accountMessages,
  advisoryMessages,
  commandMessages,
  crateMessages,
  gitMessages,
  importMessages,
  policyMessages,
  registryMessages,
  storageMessages,
  trustMessages,
  webhookMessages,
] as const

type EachTable<T> = T extends object ? T[keyof T] : never
type Intersection<U> = (U extends unknown ? (arg: U) => void : never) extends (all: infer A) => void
  ? A
  : never
type Messages = Intersection<EachTable<(typeof tables)[number]>>

export type Code = keyof Messages

type Placeholders<M> = M extends `${string}{${infer Name}}${infer Rest}`
  ? (Name extends `${infer Own}:${string}` ? Own : Name) | Placeholders<Rest>
  : never

export type Params<C extends Code> = Messages[C] extends (...params: infer P) => string
  ? P
  : [Placeholders<Messages[C]>] extends [never]
    ? []
    : [Readonly<Record<Placeholders<Messages[C]>, string | number>>]

const catalog: ReadonlyMap<string, { readonly kind: Kind; readonly wording: Wording }> = new Map(
  tables.flatMap(table =>
    Object.entries(table).flatMap(([kind, messages]) =>
      Object.entries<Wording>(messages).map(
        ([code, wording]) => [code, { kind: kind as Kind, wording }] as const,
      ),
    ),
  ),
)

/** Returns the kind of a code. */
export function kindOf(code: Code): Kind {
  return entryOf(code).kind
}

/** Returns the codes of these kinds. */
export function codesOf(...kinds: readonly Kind[]): Code[] {
  return [...catalog].flatMap(([code, { kind }]) => (kinds.includes(kind) ? [code as Code] : []))
}

/** Returns the message of a code. Quoted text is clipped and cannot control a terminal. */
export function message<C extends Code>(code: C, [params]: Params<C>): string {
  const { wording } = entryOf(code)
  const values = quoted(params)
  if (typeof wording === 'function') return wording(values as never)
  const parameters = new Map(Object.entries(values ?? {}))
  return wording.replace(/\{(\w+)(?::(\w+))?\}/g, (_, name: string, form?: string) => {
    const value = parameters.get(name)
    if (form === 'date') return dateText(String(value))
    if (form !== 'size') return String(value)
    const [size, max] = [Number(value), Number(parameters.get('max'))]
    // What exceeds a limit by little differs from it.
    const isClose = name !== 'max' && formatBytes(size) === formatBytes(max)
    return size < 1024 || isClose ? counted(size, 'byte') : formatBytes(size)
  })
}

function entryOf(code: string) {
  const entry = catalog.get(code)
  if (!entry) throw new Error(`there is no message ${code}`)
  return entry
}

function quoted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(quoted)
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, quoted(inner)]))
  return typeof value === 'string' ? quotedText(value) : value
}

/** Makes untrusted text fit for a message: clips it and escapes terminal controls. */
export function quotedText(text: string): string {
  const clipped = text.length > QUOTED_MAX ? `${text.slice(0, QUOTED_MAX - 1)}…` : text
  return clipped.replace(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    character => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  )
}
