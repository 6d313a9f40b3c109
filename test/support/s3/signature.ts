import { createHash, createHmac } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** The keys of the only account. */
export const KEYS = { id: 'AKIAPLIMSOLLTEST', secret: 'secret/of+the=tests' }

/**
 * Checks the signature of a request as the documents of AWS describe it, written apart from the
 * client's code; returns the code of the fault, or null.
 */
export function signatureFault(request: IncomingMessage, body: Buffer, now: number): string | null {
  const url = new URL(request.url ?? '', 'http://host')
  const isPresigned = url.searchParams.has('X-Amz-Signature')
  const claimed = isPresigned ? fromQuery(url) : fromHeader(request)
  if (!claimed) return 'AccessDenied'
  const [id = '', day = '', region = '', service = '', end = ''] = claimed.credential.split('/')
  if (id !== KEYS.id) return 'InvalidAccessKeyId'
  if (service !== 's3' || end !== 'aws4_request' || !claimed.date.startsWith(day))
    return 'AccessDenied'
  const at = Date.parse(claimed.date.replace(/(....)(..)(..)T(..)(..)(..)Z/, '$1-$2-$3T$4:$5:$6Z'))
  if (isPresigned ? now > at + claimed.seconds * 1000 : Math.abs(now - at) > 900_000)
    return isPresigned ? 'AccessDenied' : 'RequestTimeTooSkewed'
  const sum = String(request.headers['x-amz-content-sha256'] ?? 'UNSIGNED-PAYLOAD')
  if (!isPresigned) {
    if (sum === 'UNSIGNED-PAYLOAD') return 'AccessDenied'
    if (sum !== createHash('sha256').update(body).digest('hex')) return 'XAmzContentSHA256Mismatch'
    const names = claimed.signedHeaders.split(';')
    const isLeftOut = (name: string) => /^(?:host$|x-amz-|if-)/.test(name) && !names.includes(name)
    if (Object.keys(request.headers).some(isLeftOut)) return 'AccessDenied'
  }
  const headers = claimed.signedHeaders
    .split(';')
    .map(name => `${name}:${String(request.headers[name] ?? '').trim()}\n`)
    .join('')
  const text = [
    request.method,
    url.pathname,
    canonicalQuery(url),
    headers,
    claimed.signedHeaders,
    isPresigned ? 'UNSIGNED-PAYLOAD' : sum,
  ].join('\n')
  const scope = `${day}/${region}/s3/aws4_request`
  const hash = createHash('sha256').update(text).digest('hex')
  let key: Buffer = Buffer.from(`AWS4${KEYS.secret}`)
  for (const part of [day, region, 's3', 'aws4_request']) key = mac(key, part)
  const expected = mac(key, `AWS4-HMAC-SHA256\n${claimed.date}\n${scope}\n${hash}`).toString('hex')
  return expected === claimed.signature ? null : 'SignatureDoesNotMatch'
}

interface SignatureParts {
  readonly credential: string
  readonly date: string
  readonly signedHeaders: string
  readonly signature: string
  readonly seconds: number
}

function fromHeader(request: IncomingMessage): SignatureParts | null {
  const pattern =
    /^AWS4-HMAC-SHA256 Credential=([^,]+), SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/
  const [, credential = '', signedHeaders = '', signature = ''] =
    pattern.exec(request.headers.authorization ?? '') ?? []
  const date = String(request.headers['x-amz-date'] ?? '')
  return signature === '' ? null : { credential, signedHeaders, signature, date, seconds: 0 }
}

function fromQuery({ searchParams: query }: URL): SignatureParts {
  return {
    credential: query.get('X-Amz-Credential') ?? '',
    date: query.get('X-Amz-Date') ?? '',
    signedHeaders: query.get('X-Amz-SignedHeaders') ?? '',
    signature: query.get('X-Amz-Signature') ?? '',
    seconds: Number(query.get('X-Amz-Expires')),
  }
}

/** The query as it was sent, sorted, without the signature itself. */
function canonicalQuery(url: URL): string {
  return url.search
    .slice(1)
    .split('&')
    .filter(pair => pair !== '' && !pair.startsWith('X-Amz-Signature='))
    .map(pair => (pair.includes('=') ? pair : `${pair}=`))
    .sort()
    .join('&')
}

function mac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
