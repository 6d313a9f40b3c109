import { refuse } from '../../core/error/error.ts'
import { WebFailure } from '../web/failure.ts'
import { Web } from '../web/web.ts'

const MOST_BYTES = 64 * 1024
const TIMEOUT_MS = 30_000

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
    const answer = await web.exchange(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jwt }),
      max: MOST_BYTES,
      timeoutMs: TIMEOUT_MS,
    })
    const text = answer.bytes.toString('utf8')
    const { token, reason } = read(text)
    if (token !== null) return token
    return refuse('exchange_refused', { status: answer.status, reason })
  } catch (error) {
    if (!(error instanceof WebFailure)) throw error
    return refuse('exchange_failed', { url: error.url, reason: error.message })
  } finally {
    await web.close()
  }
}

function read(text: string): { readonly token: string | null; readonly reason: string } {
  const body = parsed(text)
  const { token, errors } = (typeof body === 'object' && body ? body : {}) as Answer
  const details = Array.isArray(errors) ? errors.map(error => String(error?.detail)) : [text]
  return { token: typeof token === 'string' ? token : null, reason: details.join('; ') }
}

interface Answer {
  readonly token?: unknown
  readonly errors?: readonly { readonly detail?: unknown }[]
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}
