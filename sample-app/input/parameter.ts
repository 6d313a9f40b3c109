import { type Defaulted, declared, type OrNull } from './declared.ts'
import type { Parameter, Source } from './input.ts'
import type { Kind } from './kind.ts'

/**
 * Declares a parameter: `query(integer, { default: 10 })`, `path(text)`, `cookie(text, { default: null })`.
 * Without a `default` it is required; with `default: null` it is optional and null when absent.
 */
type Declare = <T, const D extends T | null | undefined = undefined>(
  kind: Kind<T>,
  declaration?: Defaulted<D>,
) => Parameter<OrNull<T, D>>

export const path = from('path')
export const query = from('query')
/** On the wire an underscore of the name is a hyphen: `x_token` is the header `x-token`. */
export const header = from('header')
export const cookie = from('cookie')
/** A field of an urlencoded or multipart form. An empty value counts as absent. */
export const form = from('form')

function from(source: Source): Declare {
  return (kind, declaration = {}) => ({ role: 'parameter', source, ...declared(kind, declaration, 'text') })
}

/** The name a parameter has on the wire, in errors and in the documentation. */
export function wireName(key: string, { source, declaration }: Parameter<unknown>): string {
  const name = declaration.alias ?? key
  return source === 'header' ? name.replaceAll('_', '-').toLowerCase() : name
}
