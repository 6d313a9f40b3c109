import type { TomlValue } from 'smol-toml'
import { type Issue, issue } from '../error/error.ts'

/**
 * A TOML table with typed access to its own keys, even `__proto__`. A value of the wrong type adds
 * an error and reads as absent, so that one run finds every error.
 */
export class Table {
  readonly #fields: ReadonlyMap<string, TomlValue>
  readonly #where: string
  readonly #issues: Issue[]

  constructor(fields: object, where: string, issues: Issue[]) {
    this.#fields = new Map(Object.entries(fields))
    this.#where = where
    this.#issues = issues
  }

  keys(): string[] {
    return [...this.#fields.keys()]
  }

  raw(key: string): TomlValue | undefined {
    return this.#fields.get(key)
  }

  /** Full name of a key, for messages. */
  path(key: string): string {
    const bare = /^[A-Za-z0-9_-]+$/.test(key) ? key : `'${key}'`
    return this.#where === '' ? bare : `${this.#where}.${bare}`
  }

  text(key: string): string | null {
    return this.#read(key, 'a string', isText)
  }

  flag(key: string): boolean | null {
    return this.#read(key, 'true or false', isFlag)
  }

  texts(key: string): readonly string[] | null {
    return this.#read(key, 'an array of strings', isTexts)
  }

  /** The table under `key`. */
  table(key: string): Table | null {
    const value = this.#read(key, 'a table', isTable)
    return value && new Table(value, this.path(key), this.#issues)
  }

  /** The tables of `[[key]]`. */
  tables(key: string): Table[] {
    const value = this.#read(key, 'an array of tables', isTables) ?? []
    return value.map((one, at) => new Table(one, `${this.path(key)}[${at}]`, this.#issues))
  }

  /** Reports the value of `key`. */
  object(key: string, expected: string): null {
    this.#issues.push(issue('manifest_field', { field: this.path(key), expected }))
    return null
  }

  #read<T>(
    key: string,
    expected: string,
    test: (value: TomlValue) => value is TomlValue & T,
  ): T | null {
    const value = this.#fields.get(key)
    if (value === undefined || test(value)) return value ?? null
    if (isInherited(value)) {
      this.#issues.push(issue('manifest_inherited', { field: this.path(key) }))
      return null
    }
    return this.object(key, expected)
  }
}

/** Whether a value is `{ workspace = true }`, so that only the workspace knows it. */
export function isInherited(value: TomlValue | undefined): boolean {
  return value !== undefined && isTable(value) && Object.hasOwn(value, 'workspace')
}

/** Whether a value is a table. */
export function isTable(value: TomlValue): value is { [key: string]: TomlValue } {
  return typeof value === 'object' && !Array.isArray(value) && !(value instanceof Date)
}

function isTables(value: TomlValue): value is { [key: string]: TomlValue }[] {
  return Array.isArray(value) && value.every(isTable)
}

function isText(value: TomlValue): value is string {
  return typeof value === 'string'
}

function isFlag(value: TomlValue): value is boolean {
  return typeof value === 'boolean'
}

function isTexts(value: TomlValue): value is string[] {
  return Array.isArray(value) && value.every(isText)
}
