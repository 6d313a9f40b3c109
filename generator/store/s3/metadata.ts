import { readFile } from 'node:fs/promises'
import * as v from 'valibot'
import { refuse } from '../../../core/error/error.ts'
import type { Credentials } from './sign.ts'

/** The environment of the process. */
export type Environment = Readonly<Record<string, string | undefined>>

/** How long a service of the own machine may take, in milliseconds; there may be none. */
const LIMIT_MS = 1000

const MACHINE = 'http://169.254.169.254'
const CONTAINER = 'http://169.254.170.2'

/** The longest answer that is read, in bytes. */
const ANSWER_MAX = 64 * 1024

const keys = v.object({
  AccessKeyId: v.string(),
  SecretAccessKey: v.string(),
  Token: v.optional(v.string()),
  Expiration: v.optional(v.pipe(v.string(), v.isoTimestamp())),
})

/** Asks the service of a container or of a machine in a cloud for its keys; null without one. */
export async function fromMetadata(env: Environment): Promise<Credentials | null> {
  const relative = env.AWS_CONTAINER_CREDENTIALS_RELATIVE_URI
  const address = relative ? CONTAINER + relative : env.AWS_CONTAINER_CREDENTIALS_FULL_URI
  if (address) return parse(await ask(address, await containerHeaders(env)))
  if (env.AWS_EC2_METADATA_DISABLED?.toLowerCase() === 'true') return null
  return fromMachine(env.AWS_EC2_METADATA_SERVICE_ENDPOINT?.replace(/\/$/, '') || MACHINE)
}

async function containerHeaders(env: Environment): Promise<Record<string, string>> {
  const file = env.AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE
  const token = file ? await readToken(file) : env.AWS_CONTAINER_AUTHORIZATION_TOKEN
  return token ? { authorization: token } : {}
}

/** Reads a token that somebody else renews in a file; refuses when there is none. */
export async function readToken(file: string): Promise<string> {
  try {
    const token = (await readFile(file, 'utf8')).trim()
    if (/^\S{1,20000}$/.test(token)) return token
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    return refuse('bucket_token_missing', { file, reason: code })
  }
  return refuse('bucket_token_missing', { file, reason: 'it has no token' })
}

/** Version 2 of the metadata service: a token first, then the name of the role, then its keys. */
async function fromMachine(machine: string): Promise<Credentials | null> {
  const seconds = { 'x-aws-ec2-metadata-token-ttl-seconds': '300' }
  const token = await ask(`${machine}/latest/api/token`, seconds, 'PUT')
  if (token === null) return null
  const folder = `${machine}/latest/meta-data/iam/security-credentials/`
  const headers = { 'x-aws-ec2-metadata-token': token.trim() }
  const [role = ''] = (await ask(folder, headers))?.split('\n') ?? []
  return role === '' ? null : parse(await ask(folder + encodeURIComponent(role.trim()), headers))
}

/** Returns the text of an answer; null when nobody answers in time, or with a failure. */
async function ask(
  address: string,
  headers: Record<string, string>,
  method = 'GET',
): Promise<string | null> {
  try {
    const signal = AbortSignal.timeout(LIMIT_MS)
    const answer = await fetch(address, { method, headers, signal, redirect: 'error' })
    const text = await readText(answer)
    return answer.ok ? text : null
  } catch {
    // There is no such service here: the caller goes on without it.
    return null
  }
}

/** Reads an answer of a service that gives keys; null when it is longer than any of them. */
export async function readText(answer: Response): Promise<string | null> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of answer.body ?? []) {
    size += part.byteLength
    if (size > ANSWER_MAX) return null
    parts.push(part)
  }
  return Buffer.concat(parts).toString()
}

function parse(text: string | null): Credentials | null {
  if (text === null) return null
  const read = v.safeParse(v.pipe(v.string(), v.parseJson(), keys), text)
  if (!read.success) return null
  const { AccessKeyId, SecretAccessKey, Token, Expiration } = read.output
  return {
    accessKeyId: AccessKeyId,
    secretAccessKey: SecretAccessKey,
    sessionToken: Token,
    expires: Expiration === undefined ? undefined : Date.parse(Expiration),
  }
}
