import type { JSONWebKeySet, JWTHeaderParameters } from 'jose'
import { refuse } from '../../core/error/error.ts'
import { jsonIn } from '../../core/plain-data.ts'
import type { IssuerSettings } from '../../core/settings/issuer.ts'
import { asCaller } from '../places/disk/caller.ts'
import { readBytes } from '../places/disk/files.ts'
import { WebFailure } from '../web/failure.ts'
import type { Web } from '../web/web.ts'

const MOST_BYTES = 64 * 1024
const MOST_KEYS = 100
const TIMEOUT_MS = 5000
/** How long keys are used before the issuer is asked again, and for how long if it is away. */
const FRESH_MS = 10 * 60_000
const KEPT_MS = 24 * 3_600_000
/** How often an issuer is asked for a key that it did not have, or that does not answer. */
const PAUSE_MS = 60_000
const FAILED_PAUSE_MS = 10_000

/** The keys of an issuer, bounded in bytes, number and time, fetched once for all who wait. */
export class IssuerKeys {
  readonly #issuer: IssuerSettings
  readonly #open: () => Web
  readonly #clock: () => Date
  #set: JSONWebKeySet | null = null
  #fetched = Number.NEGATIVE_INFINITY
  #asked = Number.NEGATIVE_INFINITY
  #failure: string | null = null
  #fetching: Promise<void> | null = null

  constructor(issuer: IssuerSettings, open: () => Web, clock: () => Date) {
    this.#issuer = issuer
    this.#open = open
    this.#clock = clock
  }

  /** Returns the key of a header; refuses one that the issuer lacks, or if it cannot be asked. */
  async find(header: JWTHeaderParameters) {
    if (this.#since(this.#fetched) > FRESH_MS)
      await this.#refresh(this.#failure ? FAILED_PAUSE_MS : 0)
    const known = await this.#known(header)
    if (known) return known
    await this.#refresh(PAUSE_MS)
    return (await this.#known(header)) ?? refuse('jwt_key_unknown')
  }

  async #known(header: JWTHeaderParameters) {
    if (!this.#set || this.#since(this.#fetched) > KEPT_MS)
      return refuse('issuer_keys', { reason: this.#failure ?? '' })
    const { createLocalJWKSet, errors } = await import('jose')
    try {
      return await createLocalJWKSet(this.#set)(header)
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey) return null
      if (error instanceof Error) return refuse('issuer_keys', { reason: error.message })
      throw error
    }
  }

  async #refresh(pause: number): Promise<void> {
    if (this.#since(this.#asked) < pause) return this.#fetching ?? undefined
    this.#fetching ??= this.#fetch().finally(() => {
      this.#fetching = null
    })
    await this.#fetching
  }

  async #fetch(): Promise<void> {
    this.#asked = this.#now()
    try {
      this.#set = keysOf(await this.#read())
      this.#fetched = this.#now()
      this.#failure = null
    } catch (error) {
      if (!(error instanceof Error)) throw error
      this.#failure = `${error instanceof WebFailure ? `${error.url}: ` : ''}${error.message}`
    }
  }

  async #read(): Promise<unknown> {
    const { issuer, jwks_uri, jwks_file: file } = this.#issuer
    if (file !== '') return parsed(file, await asCaller(() => readBytes(file, MOST_BYTES)))
    const web = this.#open()
    try {
      return await json(web, jwks_uri === '' ? await discovered(web, issuer) : jwks_uri)
    } finally {
      await web.close()
    }
  }

  /** Milliseconds; a time that is still to come is of a clock that was wrong. */
  #since(time: number): number {
    return Math.abs(this.#now() - time)
  }

  #now(): number {
    return this.#clock().getTime()
  }
}

async function discovered(web: Web, issuer: string): Promise<string> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const { issuer: named, jwks_uri } = (await json(web, url)) as Readonly<Record<string, unknown>>
  if (named !== issuer) fail(url, `it is the issuer ${named}, not ${issuer}`)
  return typeof jwks_uri === 'string' ? jwks_uri : fail(url, 'it names no `jwks_uri`')
}

async function json(web: Web, url: string): Promise<unknown> {
  const answer = await web.exchange(url, { max: MOST_BYTES, timeoutMs: TIMEOUT_MS })
  if (answer.status !== 200) fail(url, `HTTP status ${answer.status}`)
  return parsed(url, answer.bytes)
}

function parsed(where: string, bytes: Buffer | null): unknown {
  const found = jsonIn(String(bytes))
  return found === undefined ? fail(where, 'it is no JSON') : (found ?? {})
}

function fail(where: string, message: string): never {
  throw new WebFailure(where, message)
}

function keysOf(found: unknown): JSONWebKeySet {
  const { keys } = found as Readonly<Record<string, unknown>>
  if (!Array.isArray(keys)) throw new Error('it is no set of keys: it has no array `keys`')
  if (keys.length > MOST_KEYS) throw new Error(`it has more than ${MOST_KEYS} keys`)
  // Without an id, a key would be one for every token.
  return { keys: keys.filter(key => typeof key?.kid === 'string') }
}
