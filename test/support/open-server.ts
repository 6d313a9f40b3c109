import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Refusal } from '../../core/error/error.ts'
import { type Listening, type ListenOptions, listen } from '../../daemon/http/listen.ts'

type Options = Partial<Exclude<ListenOptions, { readonly socket: string }>>

/** The daemon's server on a free port, until the test ends. */
export async function openServer(
  t: Pick<TestContext, 'after'>,
  options: Options = {},
): Promise<Listening> {
  const onTlsFailure = (refusal: Refusal) => assert.fail(refusal.message)
  const server = await listen({ host: '127.0.0.1', port: 0, tls: null, onTlsFailure, ...options })
  t.after(() => server.stop(0))
  return server
}
