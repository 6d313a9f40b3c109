import * as v from 'valibot'
import type { Declared } from './input.ts'
import type { Kind } from './kind.ts'
import type { Declaration } from './rules.ts'

/** How a value is declared, with what takes its place when it is absent; without a default it is required. */
export type Defaulted<D> = Declaration & { readonly default?: D }

/** A default of null makes the value nullable, any other leaves its type alone. */
export type OrNull<T, D> = [D] extends [null] ? T | null : T

/**
 * A value of a kind, read by the kind's schema for parameters or for JSON.
 * @param format JSON may say null where the default is null; the text of a parameter never does
 */
export function declared<T, D extends T | null | undefined>(
  kind: Kind<T>,
  { default: value, ...declaration }: Defaulted<D>,
  format: 'text' | 'json',
): Declared<OrNull<T, D>> {
  const own = format === 'text' ? kind.fromText(declaration) : kind.fromJson(declaration)
  const schema = value === null && format === 'json' ? v.nullable(own) : own
  const given = value === undefined ? {} : { default: { value } }
  return { kind, schema, declaration, ...given } as Declared<OrNull<T, D>>
}
