import * as v from 'valibot'
import { refuse } from '../../core/error/error.ts'
import { jsonIn } from '../../core/plain-data.ts'
import { WebFailure } from '../web/failure.ts'
import { Web } from '../web/web.ts'

const answer = v.object({
  token: v.optional(v.string()),
  errors: v.optional(v.array(v.object({ detail: v.string() }))),
})

/** Asks a registry for a token for that of a CI system, as the official action does. */
export async function exchangeAt(
  api: string,
  jwt: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  const url = `${api.replace(/\/+$/, '')}/api/v1/trusted_publishing/tokens`
  const web = new Web({ env })
  try {
    web.trust(url, false)
    const { status, bytes } = await web.exchange(url, {
      ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
      ...{ body: JSON.stringify({ jwt }), max: 64 * 1024, timeoutMs: 30_000 },
    })
    const text = bytes.toString('utf8')
    const read = v.safeParse(answer, jsonIn(text))
    const { token, errors } = read.success ? read.output : {}
    const reason = errors?.map(({ detail }) => detail).join('; ') ?? text
    return token ?? refuse('exchange_refused', { status, reason })
  } catch (error) {
    if (!(error instanceof WebFailure)) throw error
    return refuse('exchange_failed', { url: error.url, reason: error.message })
  } finally {
    await web.close()
  }
}
