import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { refuse } from '../../../core/error/error.ts'
import { unlessMissing } from '../durable-file.ts'
import { type Environment, fromMetadata } from './metadata.ts'
import type { Credentials } from './sign.ts'
import { fromWebIdentity } from './web-identity.ts'

/** Temporary keys are renewed so many milliseconds before they end. */
const EARLY_MS = 5 * 60_000

/** How long keys that could not be renewed are used before the next attempt, in milliseconds. */
const PAUSE_MS = 30_000

/**
 * Finds keys as the tools of AWS do, in this order: the environment (`AWS_ACCESS_KEY_ID`, …), a
 * role for the token in a file (`AWS_WEB_IDENTITY_TOKEN_FILE`), a profile in the shared files
 * (`AWS_PROFILE`), the service of a container, the machine's metadata. Nothing prints them.
 */
export class CredentialChain {
  readonly #env: Environment
  #found: Credentials | null = null
  /** Until when keys that end soon are good enough, because they could not be renewed. */
  #patient = 0
  #searching: Promise<Credentials> | null = null

  constructor(env: Environment) {
    this.#env = env
  }

  /**
   * Returns keys that hold for some minutes, or for less when they could not be renewed. Refuses
   * when there are none; throws `Transient` when a service that has them does not answer.
   */
  async get(): Promise<Credentials> {
    const now = Date.now()
    const { expires = Number.POSITIVE_INFINITY } = this.#found ?? {}
    const isFresh = expires - EARLY_MS > now || (expires > now && this.#patient > now)
    if (this.#found && isFresh) return this.#found
    this.#searching ??= this.#search().finally(() => {
      this.#searching = null
    })
    return this.#searching
  }

  /** Forgets the keys, which the server has rejected as expired. */
  forget(): void {
    this.#found = null
  }

  async #search(): Promise<Credentials> {
    try {
      this.#found = (await this.#ask()) ?? refuse('bucket_keys_missing')
      return this.#found
    } catch (error) {
      const { expires = 0 } = this.#found ?? {}
      if (!this.#found || expires <= Date.now()) throw error
      this.#patient = Date.now() + PAUSE_MS
      return this.#found
    }
  }

  async #ask(): Promise<Credentials | null> {
    const env = this.#env
    return (
      fromEnvironment(env) ??
      (await fromWebIdentity(env, await regionOf(env))) ??
      (await fromFiles(env)) ??
      (await fromMetadata(env))
    )
  }
}

function fromEnvironment(env: Environment): Credentials | null {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env
  if (!accessKeyId || !secretAccessKey) return null
  return { accessKeyId, secretAccessKey, sessionToken: env.AWS_SESSION_TOKEN || undefined }
}

async function fromFiles(env: Environment): Promise<Credentials | null> {
  const sections = await profileOf(env)
  const accessKeyId = sections.get('aws_access_key_id')
  const secretAccessKey = sections.get('aws_secret_access_key')
  if (!accessKeyId || !secretAccessKey) return null
  return { accessKeyId, secretAccessKey, sessionToken: sections.get('aws_session_token') }
}

/**
 * Returns the region by the environment or the profile, as the tools of AWS find it; null when
 * neither names one.
 */
export async function regionOf(env: Environment): Promise<string | null> {
  const named = env.AWS_REGION || env.AWS_DEFAULT_REGION
  return named || ((await profileOf(env)).get('region') ?? null)
}

/** Reads the profile from both shared files; what `credentials` says goes before `config`. */
async function profileOf(env: Environment): Promise<ReadonlyMap<string, string>> {
  const name = env.AWS_PROFILE || 'default'
  const home = env.HOME || env.USERPROFILE || homedir()
  const config = env.AWS_CONFIG_FILE || join(home, '.aws', 'config')
  const shared = env.AWS_SHARED_CREDENTIALS_FILE || join(home, '.aws', 'credentials')
  const inConfig = name === 'default' ? name : `profile ${name}`
  return new Map([...(await section(config, inConfig)), ...(await section(shared, name))])
}

async function section(path: string, wanted: string): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  const text = (await unlessMissing(readFile(path, 'utf8'))) ?? ''
  let name = ''
  for (const line of text.split('\n')) {
    const [, heading] = /^\s*\[\s*([^\]]+?)\s*\]/.exec(line) ?? []
    name = heading?.replace(/\s+/g, ' ') ?? name
    const [, key, value] = /^([A-Za-z_]+)\s*=\s*(\S*)\s*$/.exec(line) ?? []
    if (name === wanted && key && value) found.set(key.toLowerCase(), value)
  }
  return found
}
