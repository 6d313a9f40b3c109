import type { TomlValue } from 'smol-toml'
import * as v from 'valibot'
import { type Issue, issue } from '../error/error.ts'
import { isTexts } from '../plain-data.ts'
import { isTable } from '../toml.ts'

/**
 * A TOML table with typed access to its keys, even `__proto__`. A value of the wrong type adds an
 * error and counts as absent, so that one run finds every error.
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

  path(key: string): string {
    const bare = /^[A-Za-z0-9_-]+$/.test(key) ? key : `'${key}'`
    return this.#where === '' ? bare : `${this.#where}.${bare}`
  }

  text(key: string): string | null {
    return this.#read(key, v.string('a string'))
  }

  flag(key: string): boolean | null {
    return this.#read(key, v.boolean('true or false'))
  }

  texts(key: string): readonly string[] | null {
    return this.#read(key, v.custom<readonly string[]>(isTexts, 'an array of strings'))
  }

  table(key: string): Table | null {
    const value = this.#read(key, v.custom<object>(isTable, 'a table'))
    return value && new Table(value, this.path(key), this.#issues)
  }

  tables(key: string): Table[] {
    const isTables = (value: unknown) => Array.isArray(value) && value.every(isTable)
    const value = this.#read(key, v.custom<readonly object[]>(isTables, 'an array of tables'))
    return (value ?? []).map(
      (item, at) => new Table(item, `${this.path(key)}[${at}]`, this.#issues),
    )
  }

  report(key: string, expected: string): null {
    this.#issues.push(issue('manifest_field', { field: this.path(key), expected }))
    return null
  }

  #read<T>(key: string, schema: v.GenericSchema<unknown, T>): T | null {
    const value = this.#fields.get(key)
    if (value === undefined) return null
    const result = v.safeParse(schema, value)
    if (result.success) return result.output
    if (!isInherited(value)) return this.report(key, result.issues[0].message)
    this.#issues.push(issue('manifest_inherited', { field: this.path(key) }))
    return null
  }
}

/** Whether a value is `{ workspace = true }`, which only the workspace can resolve. */
export function isInherited(value: TomlValue | undefined): boolean {
  return value !== undefined && isTable(value) && Object.hasOwn(value, 'workspace')
}
