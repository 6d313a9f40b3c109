import { refuse } from '../../../core/error/error.ts'
import { type Environment, readText, readToken } from './metadata.ts'
import { Transient } from './retry.ts'
import type { Credentials } from './sign.ts'
import { childText, type Element, parseXml } from './xml.ts'

/** How long the service may take, in milliseconds. */
const LIMIT_MS = 5000

/** Codes of answers after which the same request may succeed, besides those with status 5xx. */
const TRANSIENT = new Set(['IDPCommunicationError', 'Throttling', 'ThrottlingException'])

/**
 * Gets keys for the role `AWS_ROLE_ARN` by the token in `AWS_WEB_IDENTITY_TOKEN_FILE`, which
 * Kubernetes and others renew there (`AssumeRoleWithWebIdentity` of AWS STS). Null without these
 * variables. Refuses what the service refuses; throws `Transient` when it does not answer. `region`
 * chooses the endpoint; without one it is that of all regions.
 */
export async function fromWebIdentity(
  env: Environment,
  region: string | null,
): Promise<Credentials | null> {
  const { AWS_WEB_IDENTITY_TOKEN_FILE: file, AWS_ROLE_ARN: role } = env
  if (!file || !role) return null
  const token = await readToken(file)
  const query = new URLSearchParams({
    Action: 'AssumeRoleWithWebIdentity',
    Version: '2011-06-15',
    RoleArn: role,
    RoleSessionName: env.AWS_ROLE_SESSION_NAME || 'plimsoll',
    WebIdentityToken: token,
  })
  const { status, text } = await send(env.AWS_ENDPOINT_URL_STS || endpointOf(region), query)
  const root = parseXml(text)
  if (status !== 200) fail(status, root, token)
  return keysIn(root)
}

function endpointOf(region: string | null): string {
  if (region === null) return 'https://sts.amazonaws.com'
  return `https://sts.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`
}

/** The request is not signed: the token is what proves who asks. */
async function send(
  address: string,
  body: URLSearchParams,
): Promise<{ readonly status: number; readonly text: string }> {
  try {
    const signal = AbortSignal.timeout(LIMIT_MS)
    // A redirect could lead the token elsewhere.
    const answer = await fetch(address, { method: 'POST', body, signal, redirect: 'error' })
    return { status: answer.status, text: (await readText(answer)) ?? '' }
  } catch (error) {
    const { message, cause } = error as Error & { readonly cause?: Error }
    throw new Transient(`keys for the role: ${cause?.message ?? message}`, { cause: error })
  }
}

function fail(status: number, root: Element | null, token: string): never {
  const element = root?.children.find(one => one.name === 'Error') ?? null
  const code = childText(element, 'Code')
  const reason = `${status} ${code}`.trimEnd()
  if (status === 429 || status >= 500 || TRANSIENT.has(code))
    throw new Transient(`keys for the role: ${reason}`)
  const message = childText(element, 'Message').replaceAll(token, '…').replace(/\s+/g, ' ')
  const more = message === '' ? '' : `: ${message.slice(0, 300)}`
  return refuse('bucket_role_refused', { reason: reason + more })
}

function keysIn(root: Element | null): Credentials {
  const result = root?.children.find(one => one.name === 'AssumeRoleWithWebIdentityResult')
  const keys = result?.children.find(one => one.name === 'Credentials') ?? null
  const accessKeyId = childText(keys, 'AccessKeyId')
  const secretAccessKey = childText(keys, 'SecretAccessKey')
  const sessionToken = childText(keys, 'SessionToken')
  const expires = Date.parse(childText(keys, 'Expiration'))
  if (!accessKeyId || !secretAccessKey || !sessionToken || Number.isNaN(expires))
    refuse('bucket_role_refused', { reason: 'its answer has no keys' })
  return { accessKeyId, secretAccessKey, sessionToken, expires }
}
