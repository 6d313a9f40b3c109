import type { Context } from 'hono'
import type { SampleEnv } from '../wire/target.ts'
import type { Dependency, Inputs, Use, Values } from './input.ts'

/**
 * Declares work to do before a handler: it gets the values of its own inputs, which may be dependencies again, and its
 * result goes to whoever `depends` on it. It may end the request by throwing an HTTP error.
 */
export function dependency<I extends Inputs, T>(
  inputs: I,
  run: (values: Values<I>, context: Context<SampleEnv>) => T | Promise<T>,
): Dependency<T> {
  return { inputs, run: (values, context) => run(values as Values<I>, context) }
}

/**
 * Asks for a dependency's result. Within one request it is computed once and shared; `use_cache: false` computes it
 * anew for this place.
 */
export function depends<T>(dependency: Dependency<T>, { use_cache = true } = {}): Use<T> {
  return { role: 'dependency', dependency, use_cache }
}
