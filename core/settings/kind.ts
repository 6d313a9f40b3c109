import { isIP } from 'node:net'
import * as v from 'valibot'
import { isName } from '../name.ts'
import { isVersion } from '../version.ts'

/** A kind of value: what it accepts, how it is parsed and shown. */
export interface Kind<T> {
  /** What is accepted, in words that complete "accepted: …". */
  readonly accepts: string
  readonly schema: v.GenericSchema<unknown, T>
  /** The text of an environment variable or a flag as the file would have it. */
  fromText(text: string): unknown
  /** The value as one would write it. */
  show(value: T): unknown
}

/** How strict a rule is. */
export type Level = 'error' | 'warn' | 'off'

const CONTROL = /\p{Cc}/u

export const flag: Kind<boolean> = {
  ...plain('true or false', v.boolean()),
  fromText: text => (text === 'true' ? true : text === 'false' ? false : text),
}

/** A whole number between `min` and `max`. */
export function integer(min: number, max: number): Kind<number> {
  return {
    ...plain(
      `a whole number from ${min} to ${max}`,
      v.pipe(v.number(), v.integer(), range(min, max)),
    ),
    fromText: text => (/^[0-9]{1,15}$/.test(text) ? Number(text) : text),
  }
}

const SIZES: Readonly<Record<string, number>> = {
  GiB: 1024 ** 3,
  GB: 1000 ** 3,
  MiB: 1024 ** 2,
  MB: 1000 ** 2,
  KiB: 1024,
  KB: 1000,
  kB: 1000,
  B: 1,
}
const DURATIONS: Readonly<Record<string, number>> = { d: 86_400, h: 3600, m: 60, s: 1 }

/** A number of bytes from `min` to `max`, also as `"10MiB"`. */
export function size(min: number, max: number): Kind<number> {
  const words = `a number of bytes from ${showUnit(min, SIZES)} to ${showUnit(max, SIZES)}, such as 1048576, "10MiB" or "10MB"`
  return measured(words, SIZES, min, max)
}

/** A number of seconds from `min` to `max`, also as `"90d"`, `"12h"`, `"30m"` or `"10s"`. */
export function duration(min: number, max: number): Kind<number> {
  const words = `a number of seconds from ${showUnit(min, DURATIONS)} to ${showUnit(max, DURATIONS)}, such as 30, "10s", "30m", "12h" or "90d"`
  return measured(words, DURATIONS, min, max)
}

/** One of a few words. */
export function choice<const W extends string>(...words: readonly W[]): Kind<W> {
  return plain(words.map(word => `"${word}"`).join(', '), v.picklist(words))
}

export const level: Kind<Level> = choice('error', 'warn', 'off')

/** One line of text. */
export function line(max: number): Kind<string> {
  return text(
    `one line of at most ${max} characters`,
    value => [...value].length <= max && !CONTROL.test(value),
  )
}

/** Text that `fits`; `accepts` says what does. */
export function text(accepts: string, fits: (value: string) => boolean): Kind<string> {
  return plain(accepts, v.pipe(v.string(), v.check(fits)))
}

/** The given kind or null; an empty environment variable means null. */
export function maybe<T>(kind: Kind<T>): Kind<T | null> {
  return {
    accepts: kind.accepts,
    schema: v.nullable(kind.schema),
    fromText: given => (given === '' ? null : kind.fromText(given)),
    show: value => (value === null ? null : kind.show(value)),
  }
}

/** Any number of the given kind; in the environment separated by commas. */
export function list<T>(kind: Kind<T>): Kind<readonly T[]> {
  return {
    accepts: `a list, each item ${kind.accepts}`,
    schema: v.array(kind.schema),
    fromText: given =>
      given.split(',').flatMap(item => (item.trim() === '' ? [] : [kind.fromText(item.trim())])),
    show: value => value.map(item => kind.show(item)),
  }
}

/** An absolute http(s) URL without a trailing slash, or one of `words`. */
export function baseUrl(...words: readonly string[]): Kind<string> {
  const also = words.map(word => `"${word}" or `).join('')
  return plain(
    `${also}an absolute http or https URL without user, query and fragment`,
    v.pipe(
      v.string(),
      v.check(value => words.includes(value) || isBaseUrl(value)),
      v.transform(value =>
        words.includes(value) ? value : new URL(value).href.replace(/\/+$/, ''),
      ),
    ),
  )
}

export const indexUrl: Kind<string> = text(
  'an index URL, such as "sparse+https://crates.example.com/index/"',
  value => {
    const url = parseUrl(value.replace(/^sparse\+/, ''))
    return (
      url !== null &&
      ['http:', 'https:', 'ssh:', 'git:', 'file:'].includes(url.protocol) &&
      !isUnclean(value)
    )
  },
)

export const address: Kind<string> = text(
  'HOST:PORT, such as "127.0.0.1:8080" or "[::1]:8080"; PORT alone, on 127.0.0.1; or unix:/PATH; port 0 takes a free one',
  value => parseListen(value) !== null,
)

export const network: Kind<string> = text(
  'an IP address or a network such as "10.0.0.0/8"',
  value => {
    const [ip = '', bits, more] = value.split('/')
    const family = isIP(ip)
    if (family === 0 || more !== undefined) return false
    return (
      bits === undefined || (/^[0-9]{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
    )
  },
)

/** What `git push` accepts, but not an option or a command. */
export const remote: Kind<string> = text(
  'a git remote, such as "git@example.com:index.git"',
  value =>
    value !== '' &&
    !value.startsWith('-') &&
    !isUnclean(value) &&
    !/^[A-Za-z][\w+.-]*::/.test(value),
)

export const crateName: Kind<string> = text('a crate name', isName)

export const crateVersion: Kind<string> = text('NAME@VERSION, such as "rand@0.8.5"', value => {
  const at = value.indexOf('@')
  return at > 0 && isName(value.slice(0, at)) && isVersion(value.slice(at + 1))
})

/** Where a daemon listens: a TCP address, or the path of a Unix socket. */
export type ListenAddress =
  | { readonly host: string; readonly port: number }
  | { readonly socket: string }

/**
 * The parts of a `server.listen` value; null for anything else. The host of `[::1]:80` comes
 * without brackets, a port alone means 127.0.0.1.
 */
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

/** The text as a URL; null when it is not one. */
export function parseUrl(value: string): URL | null {
  return URL.canParse(value) ? new URL(value) : null
}

/** Whether text has white space or control characters, which `new URL` drops or escapes. */
export function isUnclean(value: string): boolean {
  return /\s/u.test(value) || CONTROL.test(value)
}

function isBaseUrl(value: string): boolean {
  const url = parseUrl(value)
  if (!url || isUnclean(value) || /[?#]/.test(value) || !/^https?:\/\//i.test(value)) return false
  return url.username === '' && url.password === ''
}

function plain<T>(accepts: string, schema: v.GenericSchema<unknown, T>): Kind<T> {
  return { accepts, schema, fromText: given => given, show: value => value }
}

function measured(
  accepts: string,
  units: Readonly<Record<string, number>>,
  min: number,
  max: number,
): Kind<number> {
  const written = new RegExp(`^([0-9]{1,15}) ?(${Object.keys(units).join('|')})$`)
  const amount = v.pipe(
    v.string(),
    v.regex(written),
    v.transform(value => {
      const [, digits = '', unit = ''] = written.exec(value) ?? []
      return Number(digits) * (units[unit] ?? Number.NaN)
    }),
  )
  return {
    accepts,
    schema: v.pipe(v.union([v.number(), amount]), v.integer(), range(min, max)),
    fromText: given => (/^[0-9]{1,15}$/.test(given) ? Number(given) : given),
    show: value => showUnit(value, units),
  }
}

function range(min: number, max: number) {
  return v.check<number, undefined>(value => value >= min && value <= max, undefined)
}

/** The amount in the largest unit that divides it. */
function showUnit(value: number, units: Readonly<Record<string, number>>): string | number {
  if (value === 0) return 0
  const unit = Object.entries(units).find(
    ([name, factor]) => !/^[GMk]?B$|^KB$/.test(name) && value % factor === 0,
  )
  return unit ? `${value / unit[1]}${unit[0]}` : value
}
