import { readFileSync } from 'node:fs'
import type { Hono } from 'hono'
import type { Documents } from './openapi.ts'

/** By chapter, in the order in which to read them. */
const CHAPTERS = {
  Hono: 'root path-params path-converter query-optional request',
  Validator: `query-required query-params query-default query-list path-params-int query-mixed body`,
  Pipes: `path-validation path-validation-float path-validation-str path-alias query-validation
    query-metadata body-any`,
  Headers: 'headers header-options cookies cookie-options',
  Forms: 'forms uploads upload-methods',
  Middleware: `dependencies dependencies-class dependencies-nested dependencies-cache
    dependencies-no-cache dependencies-cleanup global-dependencies`,
  Answers: 'errors static-files streaming sse background',
  Security: 'security jwt basic-auth bearer-auth cors',
  Apps: 'routes client timing https',
}

/** Compiled code runs from `dist/`, but the files it shows or sends stay among the sources. */
export function readSource(file: string): string {
  const isSource = import.meta.url.endsWith('.ts')
  const folder = new URL(isSource ? '.' : '../../sample-app/', import.meta.url)
  return readFileSync(new URL(file, folder), 'utf8')
}

/** A plain Hono app, and its description from the first lines of its file. */
export type Example = Readonly<Record<'name' | 'chapter' | 'about' | 'source', string>> & {
  /** A request that shows it: curl's options, if there are any, and a path. */
  readonly request: string
  readonly app: Hono
  /** The answers of its routes, by method and path, for the documentation. */
  readonly documents?: Documents
}

/** All examples, by the name of their file. */
export const examples = new Map<string, Example>()
for (const [chapter, names] of Object.entries(CHAPTERS)) {
  for (const name of names.split(/\s+/)) {
    const file = `examples/${chapter.toLowerCase()}/${name}`
    const source = readSource(`${file}.ts`)
    const [, about = '', request = ''] = /^\/\/ (.*)\n\/\/ \$ curl (.*)\n/.exec(source) ?? []
    const { default: app, documents } = await import(`./${file}.${import.meta.url.slice(-2)}`)
    examples.set(name, { name, chapter, about, request, source, app, documents })
  }
}
