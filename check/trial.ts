import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer } from './answer.ts'
import type { Ask } from './client.ts'
import { frame, type Made, make } from './package.ts'
import { api, askApi, type Crate, fact, readCrate, type Subject } from './subject.ts'
import { untried } from './verdict.ts'

/** How often one looks for something published; Cargo does so once a second for a minute. */
const LOOKS = 60

const nonce = fact(async () => randomBytes(4).toString('hex'))

/** Returns a name of this run, below the user's prefix. */
export async function nameOf(subject: Subject, word: string): Promise<string> {
  return `${subject.prefix}${await nonce(subject)}-${word}`
}

/** Asks the web API with the token, or another one. */
export function askWith(
  subject: Subject,
  method: 'GET' | 'PUT' | 'DELETE',
  path: string,
  body?: Ask['body'],
  token: string | null = subject.token,
): Promise<Answer> {
  // Cargo names the type of JSON; that of a publish only since 1.96.
  const type = body && path !== '/new' ? { 'content-type': 'application/json' } : {}
  return askApi(subject, path, { method, headers: type, token, ...(body && { body }) })
}

/** Publishes something, framed as Cargo does it or as `body` says; what is there joins `done`. */
export async function publish(
  subject: Subject,
  { name, version, metadata, bytes }: Made,
  body: Ask['body'] = frame(JSON.stringify(metadata), bytes),
  token: string | null = subject.token,
  done = subject.published,
): Promise<Answer> {
  const release = [name, version] as const
  // A target that takes no requests has nothing left to clean up.
  await api(subject)
  const answer = await askWith(subject, 'PUT', '/new', body, token).catch(error => {
    subject.doubtful.push(release)
    throw error
  })
  if (answer.isDone) done.push(release)
  else if (!answer.isRefusal) subject.doubtful.push(release)
  return answer
}

/** Reads the file of a crate until it fits, as long as Cargo does. */
export async function settle(
  subject: Subject,
  name: string,
  fits: (crate: Crate) => boolean,
): Promise<Crate> {
  for (let looks = 1; ; looks++) {
    await subject.target.refresh()
    const crate = await readCrate(subject, name)
    if (fits(crate) || looks === LOOKS || subject.signal.aborted) return crate
    await sleep(subject.pauseMs)
  }
}

/** Whether a version is in the file of a crate. */
export function has(version: string): (crate: Crate) => boolean {
  return ({ lines }) => lines.some(({ json }) => json.vers === version)
}

export interface Published {
  readonly made: Made
  readonly crate: Crate
}

/** Returns a fact: a release is published, and seen in the index; untried if it is refused. */
export function published(
  word: string,
  version: string,
  toml: (subject: Subject) => Promise<string> = async () => '',
) {
  return fact(async (subject): Promise<Published> => {
    const name = await nameOf(subject, word)
    // The next look at the file must read it anew.
    await readCrate(subject, name)
    const made = await make(name, version, await toml(subject))
    const answer = await publish(subject, made)
    if (!answer.isDone) untried(`the publish was refused: ${answer}`)
    return { made, crate: await settle(subject, name, has(version)) }
  })
}
