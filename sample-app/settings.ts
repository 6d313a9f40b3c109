import type { IncomingMessage, ServerResponse } from 'node:http'
import * as v from 'valibot'
import type { Example } from './examples.ts'

/** Node's own objects, which are absent under `app.request()`, beside the settings of examples. */
export interface SampleEnv {
  Bindings: { readonly incoming?: IncomingMessage; readonly outgoing?: ServerResponse }
}

/** A setting that cannot be used; the message names it and what is accepted. */
export class SettingsError extends Error {}

/**
 * Reads what examples have to be told from the environment.
 * @throws SettingsError naming everything that is wrong
 */
export function readSettings(env: NodeJS.ProcessEnv, examples: Iterable<Example>): object {
  const entries: v.ObjectEntries = Object.assign({}, ...[...examples].map(one => one.settings))
  const { success, output, issues } = v.safeParse(v.object(entries), env)
  if (success) return output
  throw new SettingsError(issues.map(one => `${v.getDotPath(one)}: ${one.message}`).join('\n'))
}
