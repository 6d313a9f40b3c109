import { randomBytes } from 'node:crypto'
import { basename } from 'node:path'
import { forEachConcurrently } from '../core/async/concurrently.ts'
import type { Entry } from '../core/entry/entry.ts'
import { parseEntry } from '../core/entry/parse.ts'
import { collect } from '../core/error/error.ts'
import type { Name } from '../core/name.ts'
import { isObject, jsonIn } from '../core/plain-data.ts'
import { expandDl } from '../core/urls/download-url.ts'
import type { Version } from '../core/version.ts'
import { type Answer, objectsIn, textOf } from './answer.ts'
import type { Ask, Client } from './client.ts'
import { indexPath, type Target } from './target.ts'
import { Untried, untried, Wrong } from './verdict.ts'

export type Release = readonly [name: string, version: string]

export interface CheckRun {
  readonly target: Target
  readonly client: Client
  /** Names that the user gave; none to look for some. */
  readonly crates: readonly string[]
  readonly token: string | null
  /** The beginning of names that the run publishes; null for a run that only reads. */
  readonly prefix: string | null
  /** The Cargo that plays, one for each run; null without. */
  readonly cargo: { readonly path: string; readonly version: string } | null
  readonly env: Readonly<Record<string, string | undefined>>
  /** A folder for temporary files; the caller removes it. */
  readonly scratch: string
  /** Between two looks for something published, in milliseconds. */
  readonly pauseMs: number
  readonly signal: AbortSignal
  /** Learns of how many versions the bytes were looked at, where the user named crates. */
  readonly onLooked?: (looked: number, all: number) => void
  /** The releases that the run leaves behind so far; who publishes one adds it. */
  readonly published: Release[]
  /** Those that may be there and should not: no clear answer came, or they were to be refused. */
  readonly doubtful: Release[]
}

/** Something learnt about a registry, once in a run, for all statements that need it. */
export type Probe<T> = (run: CheckRun) => Promise<T>

/** Returns a probe that asks on the first question and remembers the answer. */
export function probe<T>(make: Probe<T>): Probe<T> {
  const results = new WeakMap<CheckRun, Promise<T>>()
  return run => {
    const made = results.get(run) ?? make(run)
    results.set(run, made)
    return made
  }
}

/** The paths at which a registry may have the file of a crate, right or wrong. */
const FILE = /^(?!\.)(?:[^/]+\/){1,2}[A-Za-z0-9_-]+$/
/** How much of a large registry a run reads. */
const CRATES_MAX = 40
const DOWNLOADS_MAX = 6
/** How much a run reads of crates that the user names, their newest versions first. */
const NAMED_MAX = 500
const NAMED_BYTES_MAX = 256 * 1024 ** 2

const NO_TOKEN = 'the registry is private; give a token with --token-stdin'

export interface Line {
  readonly crate: string
  readonly where: string
  readonly text: string
  /** The object that it is; empty for anything else. */
  readonly json: Readonly<Record<string, unknown>>
  /** As Cargo reads it; null where Cargo cannot. */
  readonly entry: Entry | null
}

export interface Crate {
  readonly name: string
  readonly answer: Answer
  readonly lines: readonly Line[]
}

/** Asks for `config.json` with a token, or the file of a crate, by Cargo's headers. */
export function askIndex({ target }: CheckRun, path: string, { headers, ...ask }: Ask) {
  const own = { accept: 'text/plain', 'cargo-protocol': 'version=1' }
  return target.ask(path, { ...ask, headers: { ...own, ...headers } })
}

/** Ends what would need an answer that did not come, for which another statement fails. */
function unknown(error: unknown): never {
  if (error instanceof Wrong) untried(error.message)
  throw error
}

/** `config.json` as a stranger gets it. */
export const openConfig = probe(run => askIndex(run, 'config.json', { token: null }))

/** Whether a stranger gets no `config.json` because he has no token. */
export const isPrivate = probe(async run => (await openConfig(run).catch(unknown)).status === 401)

/** `config.json` as Cargo gets it: with the token only after a 401. */
export const config = probe(async run => {
  const open = await openConfig(run)
  if (open.status !== 401) return open
  if (run.token === null) untried(NO_TOKEN)
  return askIndex(run, 'config.json', { token: run.token })
})

/** The settings in `config.json`; untried where there are none. */
export const settings = probe(async run => {
  const { json, status } = await config(run).catch(unknown)
  const isThere = status === 200 && isObject(json)
  return isThere ? json : untried('there is no config.json that can be read')
})

/** The token for index and downloads: Cargo sends it only to a private registry. */
export const readToken = probe(async run => {
  const isDue = (await settings(run))['auth-required'] === true || (await isPrivate(run))
  return isDue ? (run.token ?? untried(NO_TOKEN)) : null
})

/** Asks for the index file of a crate as Cargo does. */
export async function askFile(run: CheckRun, name: string, ask: Ask = {}): Promise<Answer> {
  return askIndex(run, indexPath(name), { token: await readToken(run), ...ask })
}

/** The base of the web API; untried without one. */
export const api = probe(async run => {
  if (run.target.kind === 'folder') untried('a folder has no server')
  const { api } = await settings(run)
  if (typeof api !== 'string') untried('the registry has no web API')
  return `${api.replace(/\/+$/, '')}/api/v1/crates`
})

/** Asks the web API as Cargo does; `path` follows `/api/v1/crates`. */
export async function askApi(run: CheckRun, path: string, ask: Ask = {}): Promise<Answer> {
  const headers = { accept: 'application/json', ...ask.headers }
  return run.client.ask(`${await api(run)}${path}`, { ...ask, headers })
}

/** Searches: the token goes along only to a private registry. */
export async function search(run: CheckRun, query: string): Promise<Answer> {
  return askApi(run, query, { token: await readToken(run) })
}

/** A name that no registry has, the same for one run. */
export const missingName = probe(async () => `zq${randomBytes(5).toString('hex')}-x_y`)

/** Leaves out what this run published and should not be there: another statement fails for it. */
export function expected({ doubtful }: CheckRun): (name: unknown) => boolean {
  const bad = new Set(doubtful.map(([name]) => name.toLowerCase()))
  return name => !bad.has(textOf(name).toLowerCase())
}

const byLength = (a: string, b: string) => a.length - b.length || (a < b ? -1 : 1)

/** The names that are looked at; perhaps none. */
export const chosen = probe(async run => {
  const { crates, target, published } = run
  const isExpected = expected(run)
  const own = [...new Set(published.map(([name]) => name))].filter(isExpected).sort(byLength)
  if (crates.length > 0) return [...crates, ...own]
  const paths = (await target.paths())?.filter(path => FILE.test(path))
  const names = paths?.map(path => basename(path)) ?? (await searched(run))
  const all = names.filter(isExpected)
  // Short names come first, and all kinds of the others are among those that are looked at.
  all.sort(byLength)
  const step = Math.max(1, all.length / CRATES_MAX)
  return [...new Set([...all.filter((_, at) => at % step < 1), ...own])]
})

async function searched(run: CheckRun): Promise<string[]> {
  if (typeof (await settings(run)).api !== 'string') return []
  const crates = objectsIn((await search(run, '?q=&per_page=100')).at('crates'))
  return crates.map(({ name }) => textOf(name)).filter(name => /^[\w-]+$/.test(name))
}

/** The index files of all names that are looked at, also those that are not there. */
export const asked = probe(async run =>
  Promise.all((await chosen(run)).map(name => readCrate(run, name))),
)

/** The index files that are there; untried without any. */
export const crates = probe(async run => {
  const all = await asked(run)
  const present = all.filter(crate => crate.answer.status === 200)
  const none = 'no crate is known; name some with --crate'
  if (present.length === 0) untried(all.length > 0 ? `there is no ${all[0]?.name}` : none)
  return present
})

/** Reads the index file of a crate. */
export async function readCrate(run: CheckRun, name: string): Promise<Crate> {
  const answer = await askFile(run, name)
  const texts = answer.text.split('\n').filter(text => text.trim() !== '')
  const lines = texts.map((text): Line => {
    const [json = {}] = objectsIn(jsonIn(text))
    const entry = collect([], () => parseEntry(text)) ?? null
    return { crate: name, where: `${name} ${textOf(json.vers ?? '?')}`, text, json, entry }
  })
  return { name, answer, lines: answer.status === 200 ? lines : [] }
}

export const lines = probe(async run => {
  const all = (await crates(run)).flatMap(crate => crate.lines)
  return all.length > 0 ? all : untried('no index file has a line')
})

/** Fetches the `.crate` of an entry as Cargo does. */
export async function download(run: CheckRun, entry: Entry, ask: Ask = {}): Promise<Answer> {
  const { dl } = await settings(run)
  if (typeof dl !== 'string') untried('config.json has no `dl`')
  const { name, vers, cksum } = entry
  const url = expandDl(dl, { name: name as Name, version: vers as Version, cksum })
  return run.target.download(url, { token: await readToken(run), ...ask })
}

/**
 * The `.crate` files of the crates that the user gave. Without any, some: a yanked one, one with
 * build metadata, and the newest of several crates.
 */
export const downloads = probe(async run => {
  const all = (await lines(run)).flatMap(({ entry }) => entry ?? [])
  const odd = [all.find(({ yanked }) => yanked), all.find(({ vers }) => vers.includes('+'))]
  const newest = new Map(all.map(entry => [entry.name, entry]))
  // Those with many dependencies and features have most that can be wrong.
  const size = ({ deps, features }: Entry) => JSON.stringify([deps, features]).length
  const longest = [...newest.values()].sort((a, b) => size(b) - size(a))
  const few = [...new Set([...odd.filter(each => each !== undefined), ...longest])]
  if (few.length === 0) untried('no line names a .crate')
  const isNamed = run.crates.length > 0
  const wanted = isNamed ? all.toReversed().slice(0, NAMED_MAX) : few.slice(0, DOWNLOADS_MAX)
  const downloads: { readonly entry: Entry; readonly answer: Answer }[] = []
  let bytes = 0
  const fetch = async (entry: Entry) => {
    if (bytes >= NAMED_BYTES_MAX) return
    const answer = await download(run, entry).catch(error => {
      // One that is too large says nothing of the others.
      if (isNamed && error instanceof Untried) return null
      throw error
    })
    bytes += answer?.raw.length ?? 0
    if (answer) downloads.push({ entry, answer })
  }
  await forEachConcurrently(wanted, fetch, DOWNLOADS_MAX)
  if (isNamed) run.onLooked?.(downloads.length, all.length)
  return downloads
})

export type Download = Awaited<ReturnType<typeof downloads>>[number]
