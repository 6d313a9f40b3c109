import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer } from './answer.ts'
import type { Ask } from './client.ts'
import { frame, type Made, make } from './package.ts'
import { api, askApi, type CheckRun, type Crate, probe, readCrate } from './probes.ts'
import { untried } from './verdict.ts'

/** How often one looks for something published; Cargo does so once a second for a minute. */
const LOOKS = 60

const nonce = probe(async () => randomBytes(4).toString('hex'))

/** Returns a name of this run, below the user's prefix. */
export async function nameOf(run: CheckRun, word: string): Promise<string> {
  return `${run.prefix}${await nonce(run)}-${word}`
}

/** Asks the web API with the token, or another one. */
export function askWith(
  run: CheckRun,
  method: 'GET' | 'PUT' | 'DELETE',
  path: string,
  body?: Ask['body'],
  token: string | null = run.token,
): Promise<Answer> {
  // Cargo names the type of JSON; that of a publish only since 1.96.
  const type = body && path !== '/new' ? { 'content-type': 'application/json' } : {}
  return askApi(run, path, { method, headers: type, token, ...(body && { body }) })
}

/** Publishes something, framed as Cargo does it or as `body` says; what is there joins `done`. */
export async function publish(
  run: CheckRun,
  { name, version, metadata, bytes }: Made,
  body: Ask['body'] = frame(JSON.stringify(metadata), bytes),
  token: string | null = run.token,
  done = run.published,
): Promise<Answer> {
  const release = [name, version] as const
  // A target that takes no requests has nothing left to clean up.
  await api(run)
  const answer = await askWith(run, 'PUT', '/new', body, token).catch(error => {
    run.doubtful.push(release)
    throw error
  })
  if (answer.isDone) done.push(release)
  else if (!answer.isRefusal) run.doubtful.push(release)
  return answer
}

/** Reads the file of a crate until it fits, as long as Cargo does. */
export async function settle(
  run: CheckRun,
  name: string,
  fits: (crate: Crate) => boolean,
): Promise<Crate> {
  for (let looks = 1; ; looks++) {
    await run.target.refresh()
    const crate = await readCrate(run, name)
    if (fits(crate) || looks === LOOKS || run.signal.aborted) return crate
    await sleep(run.pauseMs)
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
  toml: (run: CheckRun) => Promise<string> = async () => '',
) {
  return probe(async (run): Promise<Published> => {
    const name = await nameOf(run, word)
    // The next look at the file must read it anew.
    await readCrate(run, name)
    const made = await make(name, version, await toml(run))
    const answer = await publish(run, made)
    if (!answer.isDone) untried(`the publish was refused: ${answer}`)
    return { made, crate: await settle(run, name, has(version)) }
  })
}
