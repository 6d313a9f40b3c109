import { Answer, objectsIn, textOf } from './answer.ts'
import { type CheckRun, type Line, lines, type Probe, settings } from './probes.ts'
import { untried, wrong } from './verdict.ts'

/** How bad it is if a statement is false, the worst first. */
export const WEIGHTS = ['breaks builds', 'breaks publishing', 'differs', 'could be better'] as const

/** Conditions of a statement: without them it is untried. */
export type Need = 'http' | 'public' | 'private' | 'git' | 'api' | 'write' | 'cargo'

export interface Statement {
  readonly id: string
  readonly sentence: string
  /** The address of what demands it: Cargo's book, a file of its source, a thread. */
  readonly source: string
  readonly weight: (typeof WEIGHTS)[number]
  /** The first Cargo to which it matters, such as `1.96`; null for all. */
  readonly since: string | null
  readonly needs: readonly Need[]
  /** Throws `Wrong` if it is false, `Untried` if nobody can tell. */
  readonly attempt: (run: CheckRun) => Promise<unknown>
}

/** What a row has other than its table. */
type Own = Partial<Pick<Statement, 'source' | 'weight' | 'since' | 'needs'>>

export const DIFFERS: Own = { weight: 'differs' }
export const BETTER: Own = { weight: 'could be better' }

export const BAD_TOKEN = 'plimsoll-check-wrong'

/** Statements with a source, a weight and needs in common, unless a row has its own. */
export class Table {
  readonly rows: Statement[] = []
  readonly #common: Pick<Statement, 'source' | 'weight' | 'since' | 'needs'>
  #row: Pick<Statement, 'id' | 'sentence'> & Own = { id: '', sentence: '' }

  constructor(source: string, weight: Statement['weight'], ...needs: readonly Need[]) {
    this.#common = { source, weight, needs, since: null }
  }

  /** Begins a row, which ends with how it is tried. */
  row(id: string, sentence: string, own: Own = {}): this {
    this.#row = { ...own, id, sentence }
    return this
  }

  by(attempt: Statement['attempt']): this {
    this.rows.push({ ...this.#common, ...this.#row, attempt })
    return this
  }

  that<T>(probe: Probe<T>, fits: (value: T) => boolean): this {
    return this.each(async run => [await probe(run)], fits)
  }

  /** Looks at each of several things; untried without any. */
  each<T>(probe: Probe<readonly T[]>, fits: (value: T) => boolean): this {
    return this.by(async run => {
      const all = await probe(run)
      if (all.length === 0) untried('there is nothing to look at')
      for (const value of all) if (!fits(value)) wrong(inWords(value))
    })
  }

  /**
   * Makes a row about a key: of `config.json`, of each line or of each dependency, as the beginning
   * of the id says, and what follows is the key.
   */
  key(id: string, sentence: string, fits: (value: unknown) => boolean, key = keyIn(id)): this {
    const all = { line: lines, dep: dependencies }[id.replace(/-.*/, '')] ?? onlySettings
    return this.row(id, sentence).by(async run => {
      for (const { where, json } of await all(run))
        if (!fits(json[key])) wrong(`${where}: \`${key}\` is ${textOf(json[key])}`)
    })
  }
}

/** An object of the registry, and where it stands. */
type Written = Pick<Line, 'where' | 'json'>

const keyIn = (id: string) => id.replace(/^\w+-/, '').replaceAll('-', '_')
const onlySettings: Probe<readonly Written[]> = async run => [
  { where: 'config.json', json: await settings(run) },
]

/** All dependencies of all lines; untried without any. */
export async function dependencies(run: CheckRun): Promise<readonly Written[]> {
  const dependencies = (await lines(run)).flatMap(({ where, json: { deps } }) =>
    objectsIn(deps).map(json => ({ where: `${where}, ${textOf(json.name)}`, json })),
  )
  return dependencies.length > 0 ? dependencies : untried('no crate has a dependency')
}

/** In words: a line, an answer, what has an answer, or plain data. */
function inWords(value: unknown): string {
  const { crate, where, text, answer = crate?.answer ?? value } = Object(value)
  if (where !== undefined) return `${where}: ${text ?? textOf(value)}`
  return answer instanceof Answer ? String(answer) : textOf(answer)
}

/** A chapter of Cargo's book. */
export function book(page: string): string {
  return `https://doc.rust-lang.org/cargo/reference/${page}`
}

/** A file of Cargo's source. */
export function cargo(path: string, version = '1.95'): string {
  return `https://github.com/rust-lang/cargo/blob/rust-${version}.0/${path}`
}

/** The first version of Cargo for which the statement matters, by its source. */
export function since(version: string, path: string): Own {
  return { since: version, source: cargo(path, version) }
}

/** Narrows a list; untried, for the reason `none`, where nothing is left. */
export function only<T>(
  probe: Probe<readonly T[]>,
  fits: (value: T) => boolean,
  none: string,
): Probe<readonly T[]> {
  return async run => {
    const fitting = (await probe(run)).filter(fits)
    return fitting.length > 0 ? fitting : untried(none)
  }
}

/** Whether a value is a text. */
export function isText(value: unknown): value is string {
  return typeof value === 'string'
}

/** Whether a value is a whole number that fits into 32 bits. */
export function isU32(value: unknown): boolean {
  return typeof value === 'number' && value >>> 0 === value
}

/** Returns a test for texts. */
export function text(fits: (text: string) => boolean): (value: unknown) => boolean {
  return value => isText(value) && fits(value)
}

/** Returns a test that `null` and nothing pass, too. */
export function maybe(fits: (value: unknown) => boolean): (value: unknown) => boolean {
  return value => value === null || value === undefined || fits(value)
}
