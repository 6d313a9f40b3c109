import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer } from './answer.ts'
import { frame, type Made, type Member, make } from './package.ts'
import { askApi, type Crate, fact, readCrate, type Subject } from './subject.ts'
import { untried } from './verdict.ts'

/** How often one looks for something published; Cargo does so once a second for a minute. */
const LOOKS = 60

const nonce = fact(async () => randomBytes(4).toString('hex'))

/** Returns a name of this run, below the user's prefix. */
export async function nameOf(subject: Subject, word: string): Promise<string> {
  return `${subject.prefix}${await nonce(subject)}-${word}`
}

/** Asks the web API with the token, or another one. */
export function askAs(
  subject: Subject,
  method: 'GET' | 'PUT' | 'DELETE',
  path: string,
  { body, token = subject.token }: { body?: Buffer; token?: string | null } = {},
): Promise<Answer> {
  const headers = token === null ? {} : { authorization: token }
  return askApi(subject, path, { method, headers, ...(body && { body }) })
}

/** Publishes something, framed as Cargo does it or as `body` says. */
export async function publish(
  subject: Subject,
  made: Made,
  body: Buffer = frame(JSON.stringify(made.metadata), made.bytes),
  token: string | null = subject.token,
): Promise<Answer> {
  const answer = await askAs(subject, 'PUT', '/new', { body, token })
  if (answer.isDone) subject.published.push([made.name, made.version])
  return answer
}

/** Looks until what is seen fits, as long as Cargo does after a publish; how often that took. */
export async function look<T>(
  subject: Subject,
  see: () => Promise<T>,
  fits: (value: T) => boolean,
): Promise<{ readonly value: T; readonly looks: number }> {
  for (let looks = 1; ; looks++) {
    const value = await see()
    if (fits(value) || looks === LOOKS || subject.signal.aborted) return { value, looks }
    await sleep(subject.pauseMs)
  }
}

/** Reads the file of a crate until it fits. */
export async function settle(
  subject: Subject,
  name: string,
  fits: (crate: Crate) => boolean,
): Promise<{ readonly crate: Crate; readonly looks: number }> {
  const see = async () => {
    await subject.target.refresh()
    return readCrate(subject, name)
  }
  const { value, looks } = await look(subject, see, fits)
  return { crate: value, looks }
}

/** Whether a version is in the file of a crate. */
export function has(version: string): (crate: Crate) => boolean {
  return ({ lines }) => lines.some(({ json }) => json.vers === version)
}

/** Something published, with what the index had before and has after it. */
export interface Published {
  readonly made: Made
  readonly before: Crate
  readonly answer: Answer
  readonly crate: Crate
  readonly looks: number
}

/** Returns a fact: a release is published, and seen in the index; untried if it is refused. */
export function published(
  word: string,
  version: string,
  toml: (subject: Subject) => Promise<string> = async () => '',
  more: readonly Member[] = [],
) {
  return fact(async (subject): Promise<Published> => {
    const name = await nameOf(subject, word)
    const before = await readCrate(subject, name)
    const files = more.map(file => ({ ...file, path: `${name}-${version}/${file.path}` }))
    const made = make(name, version, await toml(subject), files)
    const answer = await publish(subject, made)
    if (!answer.isDone)
      untried(`the publish was refused: ${(answer.errors ?? [answer]).join(', ')}`)
    return { made, before, answer, ...(await settle(subject, name, has(version))) }
  })
}
