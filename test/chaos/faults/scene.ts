import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  ask,
  ensureBytes,
  ensureSuccess,
  isSuccess,
  putVersion,
  type Reply,
  readIndex,
} from '../driver/api.ts'
import { Folder, type Manner, type Program } from '../program.ts'
import { ensure, type Run, Violation } from '../run.ts'

const HOOK = new URL('hook.js', import.meta.url).href
/** Cargo gives up after 30 s of silence. */
const ANSWER_MS = 30_000
/** Milliseconds in which the daemon has to see that a fault is gone. */
const RETURN_MS = 10_000

let places = 0

/** A registry with a version, and a daemon on it. */
export interface Scene {
  readonly run: Run
  readonly folder: Folder
  readonly token: string
  readonly url: string
  readonly daemon: Program
  /** Versions that were acknowledged. */
  readonly names: string[]
}

/** Prepares a registry with a user, serves it and publishes a first crate. */
export async function begin(run: Run, manner: Manner = {}): Promise<Scene> {
  const folder = new Folder(join(newPlace(run), 'registry'), { env: { PLIMSOLL_GIT_INDEX: 'off' } })
  const [token = ''] = await folder.prepare('alice')
  const daemon = folder.serve(manner)
  run.onEnd(() => daemon.kill())
  const scene = { run, folder, token, daemon, url: await daemon.url(), names: [] }
  await publishGood(scene, 'before')
  return scene
}

/** An empty folder. */
export function newPlace(run: Run): string {
  const place = join(run.folder, `place-${places++}`)
  mkdirSync(place)
  return place
}

/** Publishes a crate and fails unless that succeeds. */
export async function publishGood(scene: Scene, name: string): Promise<void> {
  const reply = await putVersion(scene.url, scene.token, name, '1.0.0')
  if (reply === null) throw new Violation(scene.daemon.story('did not answer'))
  ensureSuccess(`a publish of ${name}`, reply)
  scene.names.push(name)
}

/** Publishes while something is wrong; gives the words of the refusal. */
export async function publishBad(scene: Scene, name: string): Promise<string> {
  const began = performance.now()
  const reply = await putVersion(scene.url, scene.token, name, '1.0.0')
  const took = performance.now() - began
  if (reply === null) throw new Violation(scene.daemon.story('broke off'))
  ensure(!isSuccess(reply), `a publish of ${name} succeeds while nothing can be written`)
  ensure(took < ANSWER_MS, `the refusal takes ${took.toFixed(0)} ms`)
  const words = wordsOf(reply)
  ensure(words !== '', `the refusal says nothing: ${reply.status} ${reply.bytes}`)
  return words
}

function wordsOf({ bytes }: Reply): string {
  const { errors } = JSON.parse(bytes.toString()) as { errors?: { detail: string }[] }
  return errors?.map(error => error.detail).join(', ') ?? ''
}

/** Fails unless everything that was acknowledged is served. */
export async function ensureReads({ url, names }: Scene): Promise<void> {
  for (const name of names) {
    const lines = await readIndex(url, name)
    ensure(lines?.length === 1, `${name} is not in the index`)
    for (const line of lines) await ensureBytes(url, line)
  }
  ensure((await ask(`${url}/healthz`))?.status === 200, '/healthz does not answer')
}

/** The fault is gone: soon a publish succeeds, and nothing is wrong. */
export async function ensureReturn(scene: Scene): Promise<void> {
  const end = performance.now() + RETURN_MS
  const isBack = async () => {
    const reply = await putVersion(scene.url, scene.token, 'back', '1.0.0')
    return reply !== null && isSuccess(reply)
  }
  while (!(await isBack()) && performance.now() < end) await sleep(100)
  await publishGood(scene, 'afterwards')
  await ensureReads(scene)
  await scene.folder.verify()
  scene.daemon.child.kill('SIGTERM')
  const ended = await scene.daemon.ended
  ensure(ended === 0, scene.daemon.story(`ended with ${ended}`))
  // A new daemon finds nothing left to do.
  await scene.folder.run('build')
  await scene.folder.verify()
}

/** Returns how to start a program whose file operations fail as its `file` says. */
export function hooked(
  run: Run,
  env: Readonly<Record<string, string>>,
): Manner & { readonly file: string } {
  const file = join(run.folder, `fault-${places++}`)
  return { node: ['--import', HOOK], env: { FAULT_FILE: file, ...env }, file }
}

/** The last line of an output, without the paths of this run. */
export function lastLine(text: string): string {
  return (text.trim().split('\n').at(-1) ?? '').replaceAll(/\/\S*\/plimsoll-chaos\S*?\//g, '…/')
}
