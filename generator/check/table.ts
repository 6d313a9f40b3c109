import { isObject } from '../../core/plain-data.ts'
import { Answer } from './answer.ts'
import type { Statement } from './statement.ts'
import { type Fact, type Line, lines, settings } from './subject.ts'
import { short, untried, wrong } from './verdict.ts'

type Attempt = Statement['attempt']
/** What a row has other than its table. */
export type Own = Partial<Omit<Statement, 'id' | 'sentence' | 'attempt'>>
type Json = Readonly<Record<string, unknown>>

/** A dependency in a line, as it is written there. */
export interface WrittenDependency {
  readonly line: Line
  readonly json: Json
}

/** Statements that have something in common: `common`, unless a row has it otherwise. */
export class Table {
  readonly rows: Statement[] = []
  readonly #common: Pick<Statement, 'source' | 'weight'> & Own

  constructor(common: Pick<Statement, 'source' | 'weight'> & Own) {
    this.#common = common
  }

  /** Begins a row, which ends with how it is tried. */
  row(id: string, sentence: string, own: Own = {}): Claim {
    return new Claim(attempt => {
      this.rows.push({ since: null, needs: [], ...this.#common, ...own, id, sentence, attempt })
      return this
    })
  }
}

/** A row that does not say yet how it is tried. */
class Claim {
  /** Tries it in its own way. */
  readonly by: (attempt: Attempt) => Table

  constructor(by: (attempt: Attempt) => Table) {
    this.by = by
  }

  /** Looks at a fact. */
  that<T>(fact: Fact<T>, fits: (value: T) => boolean, seen: (value: T) => unknown = shown): Table {
    return this.by(async subject => {
      const value = await fact(subject)
      if (!fits(value)) wrong(short(String(seen(value))))
    })
  }

  /** Looks at each of several things. */
  each<T>(
    fact: Fact<readonly T[]>,
    fits: (value: T) => boolean,
    seen: (value: T) => unknown = shown,
  ): Table {
    return this.by(async subject => {
      const found = (await fact(subject)).find(value => !fits(value))
      if (found !== undefined) wrong(short(String(seen(found))))
    })
  }

  /** Looks at a key of `config.json`. */
  setting(key: string, fits: (value: unknown) => boolean): Table {
    return this.that(
      settings,
      all => fits(all[key]),
      all => inWords(key, all),
    )
  }

  /** Looks at each line of the index. */
  line(fits: (line: Line) => boolean): Table {
    return this.each(lines, fits, ({ crate, json, text }) => `${crate} ${json.vers}: ${text}`)
  }

  /** Looks at a key of each line. */
  field(key: string, fits: (value: unknown, line: Json) => boolean): Table {
    const seen = ({ crate, json }: Line) => `${crate} ${json.vers}: ${inWords(key, json)}`
    return this.each(lines, ({ json }) => fits(json[key], json), seen)
  }

  /** Looks at a key of each dependency. */
  dep(key: string, fits: (value: unknown, dep: Json) => boolean): Table {
    const seen = ({ line: { crate, json: all }, json }: WrittenDependency) =>
      `${crate} ${all.vers}, dependency ${json.name}: ${inWords(key, json)}`
    return this.each(dependencies, ({ json }) => fits(json[key], json), seen)
  }
}

/** All dependencies of all lines. */
export const dependencies: Fact<readonly WrittenDependency[]> = async subject => {
  const found = (await lines(subject)).flatMap(line => {
    const { deps } = line.json
    return Array.isArray(deps) ? deps.filter(isObject).map(json => ({ line, json })) : []
  })
  return found.length > 0 ? found : untried('no crate has a dependency')
}

/** In words: an answer, what has an answer, a list of them, or plain data. */
function shown(value: unknown): string {
  const { answer = value } = Object(value) as { answer?: unknown }
  return answer instanceof Answer ? String(answer) : (JSON.stringify(answer) ?? 'nothing')
}

function inWords(key: string, json: Json): string {
  return `\`${key}\` is ${JSON.stringify(json[key])}`
}

/** A chapter of Cargo's book. */
export function book(page: string): string {
  return `https://doc.rust-lang.org/cargo/reference/${page}`
}

/** A file of Cargo's source. */
export function cargo(path: string): string {
  return `https://github.com/rust-lang/cargo/blob/rust-1.95.0/${path}`
}

/** Narrows a list; untried, for the reason `none`, where nothing is left. */
export function only<T>(
  fact: Fact<readonly T[]>,
  fits: (value: T) => boolean,
  none: string,
): Fact<readonly T[]> {
  return async subject => {
    const found = (await fact(subject)).filter(fits)
    return found.length > 0 ? found : untried(none)
  }
}

/** Whether a value is a text. */
export function isText(value: unknown): value is string {
  return typeof value === 'string'
}

/** Returns a test for texts. */
export function text(fits: (text: string) => boolean): (value: unknown) => boolean {
  return value => isText(value) && fits(value)
}

/** Returns a test for texts of a form. */
export function like(form: RegExp): (value: unknown) => boolean {
  return text(value => form.test(value))
}

/** Returns a test that `null` and nothing pass, too. */
export function maybe(fits: (value: unknown) => boolean): (value: unknown) => boolean {
  return value => value === null || value === undefined || fits(value)
}
