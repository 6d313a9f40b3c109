import { type Issue, issue } from '../error/error.ts'
import { isAlias, isName } from '../name.ts'
import { isIndexUrl } from '../urls.ts'
import { isRustVersion, isVersion } from '../version.ts'
import type { Features, Json } from './entry.ts'
import { isPubtime } from './pubtime.ts'

export type Fields = Readonly<Record<string, Json>>

/** What one field must be: a test, and the words for it. */
export interface Rule<T extends Json> {
  readonly test: (value: Json) => value is T
  readonly expected: string
}

export const text = textThat('a string', () => true)
export const flag: Rule<boolean> = {
  test: value => typeof value === 'boolean',
  expected: 'true or false',
}
export const list: Rule<readonly Json[]> = {
  test: value => Array.isArray(value),
  expected: 'an array',
}
export const texts: Rule<readonly string[]> = {
  test: (value): value is readonly string[] =>
    Array.isArray(value) && value.every((one: Json) => typeof one === 'string'),
  expected: 'an array of strings',
}
export const featureMap: Rule<Features> = {
  test: (value): value is Features => isFields(value) && Object.values(value).every(texts.test),
  expected: 'an object of arrays of strings',
}
export const schema: Rule<number> = {
  test: (value): value is number =>
    typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 2 ** 32,
  expected: 'a whole number',
}
export const name = textThat('a crate name', isName)
export const alias = textThat('a crate name', isAlias)
export const version = textThat('a SemVer version', isVersion)
export const checksum = textThat('64 lowercase hexadecimal digits', one =>
  /^[0-9a-f]{64}$/.test(one),
)
export const rustVersion = textThat('a Rust version such as `1.70` or `1.70.0`', isRustVersion)
export const moment = textThat('a time in the form `2026-11-20T12:00:00Z`', isPubtime)
export const url = textThat('the URL of an index', isIndexUrl)

function textThat(expected: string, fits: (text: string) => boolean): Rule<string> {
  return { test: (value): value is string => typeof value === 'string' && fits(value), expected }
}

/** Whether a value is an object. */
export function isFields(value: Json): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Reads fields of an object; a wrong value becomes an objection and reads as absent. */
export class FieldReader {
  readonly #fields: Fields
  readonly #issues: Issue[]
  readonly #where: string

  /** `where` goes before each key in objections (`deps[3].`). */
  constructor(fields: Fields, issues: Issue[], where = '') {
    this.#fields = fields
    this.#issues = issues
    this.#where = where
  }

  /** Must be there. */
  required<T extends Json>(key: string, rule: Rule<T>): T | null {
    const value = this.#own(key)
    return value !== undefined && rule.test(value) ? value : this.#object(key, rule)
  }

  /** May be absent or null. */
  optional<T extends Json>(key: string, rule: Rule<T>): T | null {
    const value = this.#own(key) ?? null
    return value === null || rule.test(value) ? value : this.#object(key, rule)
  }

  /** May be absent, but not null. */
  defaulted<T extends Json>(key: string, rule: Rule<T>, absent: T): T {
    const value = this.#own(key)
    if (value === undefined) return absent
    return rule.test(value) ? value : (this.#object(key, rule) ?? absent)
  }

  #own(key: string): Json | undefined {
    return Object.hasOwn(this.#fields, key) ? this.#fields[key] : undefined
  }

  #object<T extends Json>(key: string, rule: Rule<T>): null {
    this.#issues.push(
      issue('entry_field', { field: `${this.#where}${key}`, expected: rule.expected }),
    )
    return null
  }
}
