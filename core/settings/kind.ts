import { isIP } from 'node:net'
import * as v from 'valibot'
import { deprecatedItem, yankedItem } from '../notes/notes.ts'
import { DURATIONS, inUnits, type Units } from '../quantity.ts'

export type SettingValue = string | number | boolean | null | readonly string[]

export interface Kind<T> {
  /** The accepted values, as text that completes "accepted: …". */
  readonly accepts: string
  readonly schema: v.GenericSchema<unknown, T>
  /** The units that a number may have, largest first. */
  readonly units?: Units
}

/** A setting: its accepted values, what it means, and its default under each preset. */
export interface Row<T> {
  readonly kind: Kind<T>
  /** A sentence or more in Markdown; links start at docs/run. */
  readonly meaning: string
  readonly private: T
  readonly public: T
  /** Whether a section without it is refused. */
  readonly isRequired?: boolean
}

export type Values<R> = { readonly [K in keyof R]: R[K] extends Row<infer T> ? T : never }

/** Creates a setting; `policy.preset` decides between two defaults. */
export function row<T>(
  kind: Kind<T>,
  inPrivate: NoInfer<T>,
  meaning: string,
  inPublic: NoInfer<T> = inPrivate,
): Row<T> {
  return { kind, meaning, private: inPrivate, public: inPublic }
}

/** Creates a setting without a default, which every section of its kind needs. */
export function required<T>(kind: Kind<T>, meaning: string): Row<T> {
  // Nobody sees the null: settings without a value are refused.
  const none = null as never
  return { kind: maybe(kind) as Kind<T>, meaning, private: none, public: none, isRequired: true }
}

export type Level = 'error' | 'warn' | 'off'

const SIZES: Units = {
  GiB: 1024 ** 3,
  GB: 1000 ** 3,
  MiB: 1024 ** 2,
  MB: 1000 ** 2,
  KiB: 1024,
  KB: 1000,
  kB: 1000,
  B: 1,
}

export const flag: Kind<boolean> = { accepts: 'true or false', schema: v.boolean() }

/** Accepts a whole number. */
export function integer(min: number, max: number): Kind<number> {
  return {
    accepts: `a whole number from ${min} to ${max}`,
    schema: v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max)),
  }
}

const measured = (noun: string, examples: string, units: Units) => {
  const form = new RegExp(`^([0-9]{1,15}) ?(${Object.keys(units).join('|')})$`)
  const amount = v.pipe(
    v.string(),
    v.transform(value => {
      if (value === '0') return 0
      const [, digits, unit = ''] = form.exec(value) ?? []
      return Number(digits) * (units[unit] ?? Number.NaN)
    }),
  )
  const number = v.pipe(v.union([v.number(), amount]), v.integer())
  return (min: number, max: number): Kind<number> => ({
    accepts: `a number of ${noun} from ${inUnits(min, units)} to ${inUnits(max, units)}, such as ${examples}`,
    schema: v.pipe(number, v.minValue(min), v.maxValue(max)),
    units,
  })
}

/** Accepts a number of bytes. */
export const size = measured('bytes', '1048576, "10MiB" or "10MB"', SIZES)

/** Accepts a number of seconds. */
export const duration = measured('seconds', '30, "10s", "30m", "12h" or "90d"', DURATIONS)

/** Accepts one of a few words. */
export function choice<const W extends string>(...words: readonly W[]): Kind<W> {
  return { accepts: words.map(word => `"${word}"`).join(', '), schema: v.picklist(words) }
}

export const level: Kind<Level> = choice('error', 'warn', 'off')

/** Accepts one line of text. */
export function line(max: number): Kind<string> {
  const accepts = `one line of at most ${max} characters`
  return text(accepts, value => [...value].length <= max && isLine(value))
}

/** Accepts text that `fits`; `accepts` describes it. */
export function text(accepts: string, fits: (value: string) => boolean): Kind<string> {
  return { accepts, schema: v.pipe(v.string(), v.check(fits)) }
}

export const file: Kind<string> = text('the path of a file', value => value !== '' && isLine(value))

export const fileOrNone: Kind<string> = text('the path of a file, or ""', isLine)

export const webUrlOrNone: Kind<string> = text(
  'an http or https URL, or "" for none',
  value => value === '' || hasScheme(value, 'http', 'https'),
)

export const yanked = text(
  'NAME@VERSION, such as "rand@0.8.5", or { version = "rand@0.8.5", reason = "…" }',
  item => yankedItem(item) !== null,
)

export const deprecated = text(
  '{ crate = "NAME", reason = "…" }, also with "NAME@<2", and use = "OTHER" or an https address',
  item => deprecatedItem(item) !== null,
)

/** Accepts the given kind or null. */
export function maybe<T>({ accepts, schema }: Kind<T>): Kind<T | null> {
  return { accepts, schema: v.nullable(schema) }
}

/** Accepts a list of values of the given kind. */
export function list<T>({ accepts, schema }: Kind<T>): Kind<readonly T[]> {
  return { accepts: `a list, each item ${accepts}`, schema: v.array(schema) }
}

/** Accepts an absolute http(s) URL without a trailing slash, or one of `words`. */
export function baseUrl(...words: readonly string[]): Kind<string> {
  const also = words.map(word => `"${word}" or `).join('')
  return {
    accepts: `${also}an absolute http or https URL without user, query and fragment`,
    schema: v.pipe(
      v.string(),
      v.check(value => words.includes(value) || isBaseUrl(value)),
      v.transform(value =>
        words.includes(value) ? value : new URL(value).href.replace(/\/+$/, ''),
      ),
    ),
  }
}

export const indexUrl: Kind<string> = text(
  'an index URL, such as "sparse+https://crates.example.com/index/"',
  value => hasScheme(value.replace(/^sparse\+/, ''), 'http', 'https', 'ssh', 'git', 'file'),
)

export type ListenAddress =
  | { readonly host: string; readonly port: number }
  | { readonly socket: string }

/** Parses a `server.listen` value; null if invalid. IPv6 hosts lose their brackets. */
export function parseListen(value: string): ListenAddress | null {
  const [, socket] = /^unix:(\/.{1,100})$/.exec(value) ?? []
  if (socket !== undefined) return isUnclean(socket) ? null : { socket }
  const match =
    /^(?:(?:\[([0-9A-Fa-f:.]{2,45})\]|([A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}))):)?([0-9]{1,5})$/.exec(
      value,
    )
  const [, six, name, digits] = match ?? []
  const port = Number(digits)
  if (!match || port > 65_535 || (six !== undefined && isIP(six) !== 6)) return null
  return { host: six ?? name ?? '127.0.0.1', port }
}

/** Whether text is an absolute URL with one of the schemes and without whitespace. */
export function hasScheme(value: string, ...schemes: readonly string[]): boolean {
  if (isUnclean(value) || !URL.canParse(value)) return false
  return schemes.includes(new URL(value).protocol.slice(0, -1))
}

/** Whether text has no control characters and no line breaks. */
export function isLine(value: string): boolean {
  return !/\p{Cc}/u.test(value)
}

/** Whether text has whitespace or control characters, which `new URL` drops or escapes. */
export function isUnclean(value: string): boolean {
  return /\s/u.test(value) || !isLine(value)
}

function isBaseUrl(value: string): boolean {
  if (!/^https?:\/\/[^?#]*$/i.test(value) || !hasScheme(value, 'http', 'https')) return false
  const { username, password } = new URL(value)
  return username === '' && password === ''
}
