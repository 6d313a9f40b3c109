import type { Hono } from 'hono'
import * as v from 'valibot'

/** In the order in which to read them; a folder of `examples/` is a chapter. */
const FILES = `root path/path-params path/path-params-int path/path-converter path/path-validation
path/path-validation-float path/path-validation-str path/path-alias query/query-params
query/query-optional query/query-required query/query-mixed query/query-validation
query/query-list query/query-metadata query/query-default body/body errors headers/cookies
headers/cookie-options headers/headers headers/header-options body/forms body/uploads
body/upload-methods dependencies/dependencies dependencies/dependencies-class
dependencies/dependencies-nested dependencies/dependencies-cache
dependencies/dependencies-no-cache dependencies/global-dependencies security https`

/** A plain Hono app, and what its file says about it. */
export interface Example {
  readonly name: string
  readonly about: string
  /** A request that shows it: a path, after curl's options if there are any. */
  readonly request: string
  readonly app: Hono
  /** What it has to be told; the defaults are demo values. */
  readonly settings?: v.ObjectSchema<v.ObjectEntries, undefined>
}

/** All examples by name, which is that of their file. */
export const examples = new Map<string, Example>()
for (const file of FILES.split(/\s/)) {
  const module: Omit<Example, 'name'> = await import(`./examples/${file}.js`)
  const name = file.replace(/.*\//, '')
  examples.set(name, { name, ...module })
}

/** Reads from the environment what examples have to be told; an error names all that is wrong. */
export function readSettings(env: NodeJS.ProcessEnv, which: Iterable<Example>): object {
  const entries = [...which].map(({ settings }) => settings?.entries)
  const { success, output, issues } = v.safeParse(v.object(Object.assign({}, ...entries)), env)
  if (success) return output
  throw new Error(issues.map(one => `${v.getDotPath(one)}: ${one.message}`).join('\n'))
}
