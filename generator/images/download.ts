import { type LookupAddress, type LookupOptions, lookup } from 'node:dns'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { LookupFunction } from 'node:net'
import { isIP } from 'node:net'
import type { Settings } from '../../core/settings/settings.ts'
import { type AddressRule, addressRule } from './address.ts'

/** What may be downloaded. */
export interface DownloadRules {
  /** Maximum size in bytes. */
  readonly bytes: number
  /** Networks besides the public internet from which images may come. */
  readonly networks: readonly string[]
  /** Maximum time for everything, from the search of the address to the last byte. */
  readonly seconds: number
}

/** Why an image is not shown, as a clause; `isFinal`: trying again is pointless. */
export class ImageProblem extends Error {
  readonly isFinal: boolean

  constructor(message: string, isFinal: boolean) {
    super(message)
    this.isFinal = isFinal
  }
}

/** Maximum time of one download. */
const SECONDS = 20

const REDIRECTS_MAX = 3

/** The problem of a host that does not answer in time. */
export const TOO_SLOW = 'it takes too much time'

/** Ports of public hosts. A README could otherwise make this machine talk to any service. */
const PORTS: ReadonlySet<string> = new Set(['', '80', '443'])

/** Answers that mean that the same request may succeed later, besides those of broken servers. */
const LATER: ReadonlySet<number> = new Set([401, 403, 404, 408, 425, 429])

/** Returns what images may be under these settings. */
export function imageRules({ limits, pages }: Pick<Settings, 'limits' | 'pages'>): DownloadRules {
  return { bytes: limits.image_bytes, networks: pages.image_networks, seconds: SECONDS }
}

/**
 * Downloads an image by an address from a README, which a stranger wrote. Connects only to public
 * addresses and those of `networks`: the address is checked after it is found and is the one that
 * is connected to, at every redirect. Sends no cookies, and always the same headers. Throws an
 * `ImageProblem`.
 */
export async function download(
  given: string,
  rules: DownloadRules,
  abort?: AbortSignal,
): Promise<Buffer> {
  const rule = addressRule(rules.networks)
  const timeout = AbortSignal.timeout(rules.seconds * 1000)
  const signal = abort ? AbortSignal.any([timeout, abort]) : timeout
  let url = given
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
    const answer = await ask(parsed(url), rule, signal)
    const { statusCode: status = 0, headers } = answer
    if (status === 200) return readBody(answer, rules.bytes, signal)
    answer.destroy()
    if (![301, 302, 303, 307, 308].includes(status) || headers.location === undefined)
      throw new ImageProblem(`the server answers ${status}`, status < 500 && !LATER.has(status))
    if (!URL.canParse(headers.location, url))
      throw new ImageProblem('the server redirects to an invalid address', true)
    url = new URL(headers.location, url).href
  }
  throw new ImageProblem(`there are more than ${REDIRECTS_MAX} redirects`, true)
}

function parsed(text: string): URL {
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new ImageProblem('its address is neither http nor https', true)
  if (url.username !== '' || url.password !== '')
    throw new ImageProblem('its address contains a password', true)
  return url
}

/** Sends the request; resolves when the headers of the answer have arrived. */
function ask(url: URL, rule: AddressRule, signal: AbortSignal): Promise<IncomingMessage> {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  // Node looks up names only, and connects to an address in the URL at once.
  if (isIP(host) !== 0 && !isAllowed(host, url.port, rule)) throw notPublic()
  const send = url.protocol === 'https:' ? requestHttps : requestHttp
  const headers = {
    'user-agent': 'plimsoll-images',
    accept: 'image/*',
    'accept-encoding': 'identity',
  }
  const options = { agent: false as const, headers, lookup: checkedLookup(url.port, rule), signal }
  return new Promise((resolve, reject) => {
    const request = send(url, options, resolve)
    request.on('error', error => reject(problemOf(error, signal)))
    request.end()
  })
}

/** Returns a lookup that finds only allowed addresses, so that no second lookup can differ. */
function checkedLookup(port: string, rule: AddressRule): LookupFunction {
  return (host: string, options: LookupOptions, done) => {
    lookup(host, { ...options, all: true }, (error, found: LookupAddress[]) => {
      if (error) return done(error, '', 0)
      const allowed = found.filter(({ address }) => isAllowed(address, port, rule))
      const [one] = allowed
      if (!one) return done(notPublic(), '', 0)
      if (options.all) done(null, allowed)
      else done(null, one.address, one.family)
    })
  }
}

function isAllowed(address: string, port: string, rule: AddressRule): boolean {
  const kind = rule(address)
  return kind === 'allowed' || (kind === 'public' && PORTS.has(port))
}

function notPublic(): ImageProblem {
  return new ImageProblem('its host has no public address, or the port is unusual', true)
}

async function readBody(
  answer: IncomingMessage,
  most: number,
  signal: AbortSignal,
): Promise<Buffer> {
  const tooLarge = () => new ImageProblem(`it is larger than ${most} bytes`, true)
  const encoding = answer.headers['content-encoding'] ?? 'identity'
  try {
    if (encoding !== 'identity')
      throw new ImageProblem('the server compresses it, which was not asked for', true)
    if (Number(answer.headers['content-length']) > most) throw tooLarge()
    const parts: Buffer[] = []
    let size = 0
    for await (const part of answer as AsyncIterable<Buffer>) {
      size += part.byteLength
      if (size > most) throw tooLarge()
      parts.push(part)
    }
    return Buffer.concat(parts)
  } catch (error) {
    throw problemOf(error, signal)
  } finally {
    answer.destroy()
  }
}

function problemOf(error: unknown, signal: AbortSignal): ImageProblem {
  if (error instanceof ImageProblem) return error
  if (signal.aborted) return new ImageProblem(TOO_SLOW, false)
  const why = error instanceof Error ? error.message : String(error)
  return new ImageProblem(`the request failed: ${why}`.slice(0, 300), false)
}
