import { randomBytes } from 'node:crypto'
import type { Entry } from '../../core/entry/entry.ts'
import { parseEntry } from '../../core/entry/parse.ts'
import { collect } from '../../core/error/error.ts'
import type { Name } from '../../core/name.ts'
import { isObject } from '../../core/plain-data.ts'
import { expandDl } from '../../core/urls/download-url.ts'
import type { Version } from '../../core/version.ts'
import type { Answer } from './answer.ts'
import type { Ask, Client } from './client.ts'
import { indexPath, type Target } from './target.ts'
import { untried } from './verdict.ts'

/** What a run is about. */
export interface Subject {
  readonly target: Target
  readonly client: Client
  /** Names that the user gave; none to look for some. */
  readonly crates: readonly string[]
  readonly token: string | null
  /** What published names begin with; null for a run that only reads. */
  readonly prefix: string | null
  /** The Cargo that plays, one for each subject; null without. */
  readonly cargo: { readonly path: string; readonly version: string } | null
  readonly env: Readonly<Record<string, string | undefined>>
  /** A folder for whatever; somebody removes it. */
  readonly scratch: string
  /** Between two looks for something published, in milliseconds. */
  readonly pauseMs: number
  /** Ends the run early. */
  readonly signal: AbortSignal
  /** The releases that the run leaves behind so far; who publishes one adds it. */
  readonly published: [name: string, version: string][]
}

/** Something learnt about a subject, once, for all statements that need it. */
export type Fact<T> = (subject: Subject) => Promise<T>

/** Returns a fact that is made on the first question. */
export function fact<T>(make: Fact<T>): Fact<T> {
  const known = new WeakMap<Subject, Promise<T>>()
  return subject => {
    const made = known.get(subject) ?? make(subject)
    known.set(subject, made)
    return made
  }
}

/** How much of a large registry is looked at. */
const CRATES_MAX = 40
const DOWNLOADS_MAX = 6

/** One line of an index file. */
export interface Line {
  readonly crate: string
  readonly text: string
  /** The object that it is; empty for anything else. */
  readonly json: Readonly<Record<string, unknown>>
  /** As Cargo reads it; null where Cargo cannot. */
  readonly entry: Entry | null
}

/** An index file, as it was answered. */
export interface Crate {
  readonly name: string
  readonly answer: Answer
  readonly lines: readonly Line[]
}

/** The `.crate` of a line, as it was answered. */
export interface Download {
  readonly line: Line
  readonly entry: Entry
  readonly answer: Answer
}

/** The headers of Cargo's requests to an index (`http_remote.rs`), and the token if it is due. */
export function indexHeaders(token: string | null): Record<string, string> {
  return {
    accept: 'text/plain',
    'cargo-protocol': 'version=1',
    'accept-encoding': 'deflate, gzip',
    ...(token !== null && { authorization: token }),
  }
}

/** `config.json` as a stranger gets it. */
export const openConfig = fact(({ target }) =>
  target.ask('config.json', { headers: indexHeaders(null) }),
)

/** Whether a stranger gets no `config.json` because he has no token. */
export const isPrivate = fact(async subject => (await openConfig(subject)).status === 401)

/** `config.json` as Cargo gets it: with the token only after a 401. */
export const config = fact(async subject => {
  const { target, token } = subject
  if (!(await isPrivate(subject))) return openConfig(subject)
  if (token === null) untried('the registry is private; give a token with --token-stdin')
  return target.ask('config.json', { headers: indexHeaders(token) })
})

/** The settings in `config.json`; untried where there are none. */
export const settings = fact(async subject => {
  const { json, status } = await config(subject)
  if (status !== 200 || !isObject(json)) untried('there is no config.json that can be read')
  return json
})

/** The token for index and downloads: Cargo sends it only to a private registry. */
export const readToken = fact(async subject => {
  const isDue = (await isPrivate(subject)) || (await settings(subject))['auth-required'] === true
  return isDue ? subject.token : null
})

/** Asks for a path of the index as Cargo does. */
export async function askIndex(subject: Subject, path: string, ask: Ask = {}): Promise<Answer> {
  const headers = { ...indexHeaders(await readToken(subject)), ...ask.headers }
  return subject.target.ask(path, { ...ask, headers })
}

/** The base of the web API; untried without one. */
export const api = fact(async subject => {
  if (subject.target.kind === 'folder') untried('a folder has no server')
  const { api } = await settings(subject)
  if (typeof api !== 'string') untried('the registry has no web API')
  return `${api.replace(/\/+$/, '')}/api/v1/crates`
})

/** Asks the web API as Cargo does; `path` follows `/api/v1/crates`. */
export async function askApi(subject: Subject, path: string, ask: Ask = {}): Promise<Answer> {
  const headers = { accept: 'application/json', ...ask.headers }
  return subject.client.ask(`${await api(subject)}${path}`, { ...ask, headers })
}

/** Searches: the token goes along only to a private registry. */
export async function search(subject: Subject, query: string): Promise<Answer> {
  const token = await readToken(subject)
  return askApi(subject, query, { headers: token === null ? {} : { authorization: token } })
}

/** A name that no registry has, the same for one run. */
export const missingName = fact(async () => `zq${randomBytes(5).toString('hex')}-x_y`)

/** The names that are looked at; perhaps none. */
export const chosen = fact(async subject => {
  const { crates, target, published } = subject
  const own = [...new Set(published.map(([name]) => name))]
  if (crates.length > 0) return [...crates, ...own]
  const all = [...((await target.names()) ?? (await searched(subject)))]
  // Short names come first, and all kinds of the others are among those that are looked at.
  all.sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
  const step = Math.max(1, all.length / CRATES_MAX)
  return [...new Set([...all.filter((_, at) => at % step < 1), ...own])]
})

async function searched(subject: Subject): Promise<string[]> {
  if (typeof (await settings(subject)).api !== 'string') return []
  const { json } = await search(subject, '?q=&per_page=100')
  const { crates } = Object(json) as { crates?: { name?: unknown }[] }
  const found = Array.isArray(crates) ? crates.map(crate => crate?.name) : []
  return found.filter(name => typeof name === 'string' && /^[\w-]+$/.test(name)) as string[]
}

/** The index files of all names that are looked at, also those that are not there. */
export const asked = fact(async subject =>
  Promise.all((await chosen(subject)).map(name => readCrate(subject, name))),
)

/** The index files that are there; untried without any. */
export const crates = fact(async subject => {
  const all = await asked(subject)
  const found = all.filter(crate => crate.answer.status === 200)
  const none = 'no crate is known; name some with --crate'
  if (found.length === 0) untried(all.length > 0 ? `there is no ${all[0]?.name}` : none)
  return found
})

/** Reads the index file of a crate. */
export async function readCrate(subject: Subject, name: string, ask: Ask = {}): Promise<Crate> {
  const answer = await askIndex(subject, indexPath(name), ask)
  const texts =
    answer.status === 200 ? answer.text.split('\n').filter(text => text.trim() !== '') : []
  return { name, answer, lines: texts.map(text => readLine(name, text)) }
}

function readLine(crate: string, text: string): Line {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    // The statement about JSON says so; Cargo passes over such a line.
    json = null
  }
  const entry = collect([], () => parseEntry(text)) ?? null
  return { crate, text, json: isObject(json) ? json : {}, entry }
}

/** All lines that are looked at. */
export const lines = fact(async subject => (await crates(subject)).flatMap(crate => crate.lines))

/** Fetches the `.crate` of an entry as Cargo does, or with a `given` token. */
export async function download(
  subject: Subject,
  entry: Entry,
  given?: string | null,
): Promise<Answer> {
  const { dl } = await settings(subject)
  if (typeof dl !== 'string') untried('config.json has no `dl`')
  const token = given === undefined ? await readToken(subject) : given
  const authorization = token === null ? {} : { authorization: token }
  const headers = { 'accept-encoding': 'deflate, gzip', ...authorization }
  const { name, vers, cksum } = entry
  const url = expandDl(dl, { name: name as Name, version: vers as Version, cksum })
  return subject.target.download(url, { headers })
}

/** Some `.crate` files: a yanked one, one with build metadata, and the newest of several crates. */
export const downloads = fact(async subject => {
  const all = (await lines(subject)).flatMap(line =>
    line.entry ? [{ line, entry: line.entry }] : [],
  )
  const odd = [
    all.find(({ entry }) => entry.yanked),
    all.find(({ entry }) => entry.vers.includes('+')),
  ]
  const newest = new Map(all.map(each => [each.line.crate, each]))
  // Long lines have most that can be wrong.
  const longest = [...newest.values()].sort((a, b) => b.line.text.length - a.line.text.length)
  const chosen = [...odd.filter(each => each !== undefined), ...longest]
  const few = [...new Set(chosen)].slice(0, DOWNLOADS_MAX)
  if (few.length === 0) untried('no line names a .crate')
  return Promise.all(
    few.map(async each => ({ ...each, answer: await download(subject, each.entry) })),
  )
})
