import { createHash, createHmac } from 'node:crypto'

/** Keys of an account; `token` belongs to temporary keys. Never to be printed. */
export interface Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string | undefined
  /** When temporary keys end, in milliseconds since 1970. */
  readonly expires?: number | undefined
}

/** What of a request is signed. */
export interface Signable {
  readonly method: string
  readonly host: string
  /** The path, percent-encoded as `encodePath` does it. */
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  /** Names in lowercase. */
  readonly headers: Readonly<Record<string, string>>
}

/** For whom and when a signature holds. */
export interface Scope {
  readonly credentials: Credentials
  readonly region: string
  readonly now: Date
}

const ALGORITHM = 'AWS4-HMAC-SHA256'

/** The hash in place of that of the body where it is not known; TLS then protects the body. */
export const UNSIGNED = 'UNSIGNED-PAYLOAD'

/**
 * Returns the headers of a request with those of its signature (AWS Signature Version 4 for S3).
 * `hash`: the SHA-256 of the body in hex, or `UNSIGNED`.
 */
export function signedHeaders(
  request: Signable,
  hash: string,
  scope: Scope,
): Readonly<Record<string, string>> & { readonly authorization: string } {
  const { credentials } = scope
  const headers: Record<string, string> = {
    ...request.headers,
    host: request.host,
    'x-amz-content-sha256': hash,
    'x-amz-date': timeOf(scope.now),
    ...(credentials.sessionToken && { 'x-amz-security-token': credentials.sessionToken }),
  }
  const names = Object.keys(headers).sort().join(';')
  const signature = signatureOf(canonical({ ...request, headers }, names, hash), scope)
  const credential = `${credentials.accessKeyId}/${areaOf(scope)}`
  const authorization = `${ALGORITHM} Credential=${credential}, SignedHeaders=${names}, Signature=${signature}`
  return { ...headers, authorization }
}

/** Returns the query of an address that anybody may use for `seconds`, at most a week. */
export function presignedQuery(request: Signable, seconds: number, scope: Scope): string {
  const { credentials } = scope
  const query: Record<string, string> = {
    ...request.query,
    'X-Amz-Algorithm': ALGORITHM,
    'X-Amz-Credential': `${credentials.accessKeyId}/${areaOf(scope)}`,
    'X-Amz-Date': timeOf(scope.now),
    'X-Amz-Expires': String(seconds),
    'X-Amz-SignedHeaders': 'host',
    ...(credentials.sessionToken && { 'X-Amz-Security-Token': credentials.sessionToken }),
  }
  const headers = { host: request.host }
  const signature = signatureOf(canonical({ ...request, query, headers }, 'host', UNSIGNED), scope)
  return `${queryText(query)}&X-Amz-Signature=${signature}`
}

/** Encodes a path as signatures have it: every byte but `A-Z a-z 0-9 - . _ ~ /`. */
export function encodePath(path: string): string {
  return path.split('/').map(encode).join('/')
}

/** Returns a query as it is signed and sent: encoded, and sorted by name. */
export function queryText(query: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(query).map(([name, value]) => [encode(name), encode(value)] as const)
  const sorted = pairs.sort(([one], [other]) => (one < other ? -1 : 1))
  return sorted.map(([name, value]) => `${name}=${value}`).join('&')
}

function encode(text: string): string {
  const code = (letter: string) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`
  return encodeURIComponent(text).replace(/[!'()*]/g, code)
}

function canonical(request: Signable, names: string, hash: string): string {
  const lines = names
    .split(';')
    .map(name => `${name}:${(request.headers[name] ?? '').trim().replace(/ +/g, ' ')}\n`)
  const { method, path, query } = request
  return [method, path, queryText(query), lines.join(''), names, hash].join('\n')
}

function signatureOf(canonicalRequest: string, scope: Scope): string {
  const sum = createHash('sha256').update(canonicalRequest).digest('hex')
  const text = [ALGORITHM, timeOf(scope.now), areaOf(scope), sum].join('\n')
  return mac(keyOf(scope), text).toString('hex')
}

function keyOf({ credentials, region, now }: Scope): Buffer {
  const day = mac(`AWS4${credentials.secretAccessKey}`, timeOf(now).slice(0, 8))
  return mac(mac(mac(day, region), 's3'), 'aws4_request')
}

function areaOf({ region, now }: Scope): string {
  return `${timeOf(now).slice(0, 8)}/${region}/s3/aws4_request`
}

/** Returns a time as `20261120T120000Z`. */
function timeOf(now: Date): string {
  return now.toISOString().replace(/[-:]|\.\d+/g, '')
}

function mac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
