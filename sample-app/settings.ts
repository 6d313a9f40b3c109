import type { IncomingMessage, ServerResponse } from 'node:http'
import * as v from 'valibot'
import type { Example } from './examples.ts'

/** Node's own objects, which are absent under `app.request()`, beside the settings of examples. */
export interface SampleEnv {
  Bindings: { readonly incoming?: IncomingMessage; readonly outgoing?: ServerResponse }
}

/**
 * Reads what examples have to be told from the environment.
 * @throws Error naming everything that is wrong
 */
export function readSettings(env: NodeJS.ProcessEnv, examples: Iterable<Example>): object {
  const schemas = [...examples].flatMap(({ settings }) => settings ?? [])
  const all = v.object(Object.assign({}, ...schemas.map(({ entries }) => entries)))
  const { success, output, issues } = v.safeParse(all, env)
  if (success) return output
  throw new Error(issues.map(one => `${v.getDotPath(one)}: ${one.message}`).join('\n'))
}
