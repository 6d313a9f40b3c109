import { readFileSync } from 'node:fs'
import type { Hono } from 'hono'
import type { Documents } from './openapi.ts'

/** By chapter, in the order in which to read them. */
const CHAPTERS = {
  Hono: 'root path-params path-converter query-optional request',
  Validator: `query-required path-params-int query-params query-default query-list query-mixed body`,
  Pipes: `path-validation path-validation-float path-validation-str query-validation
    query-metadata body-any`,
  Headers: 'headers cookies',
  Forms: 'forms uploads upload-methods',
  Middleware: `dependencies dependencies-class dependencies-nested dependencies-cache
    dependencies-no-cache dependencies-cleanup global-dependencies`,
  Answers: 'errors static-files streaming background',
  Security: 'security jwt basic-bearer cors',
  Apps: 'routes client timing https',
}

/** Compiled code runs from `dist/`, but the files it shows or sends stay among the sources. */
export const readSource = (file: string) =>
  readFileSync(new URL(file, import.meta.url.replace('/dist/sample-app/', '/sample-app/')), 'utf8')

/** A plain Hono app with the answers of its routes, and what the first lines of its file say. */
export type Example = Awaited<ReturnType<typeof load>>

async function load(chapter: string, name: string) {
  const file = `examples/${chapter.toLowerCase()}/${name}`
  const source = readSource(`${file}.ts`)
  // The request has options of curl, if it needs any, and a path.
  const [, about = '', request = ''] = /^\/\/ (.*)\n\/\/ \$ curl (.*)\n/.exec(source) ?? []
  const module = await import(`./${file}.${import.meta.url.slice(-2)}`)
  const { default: app, documents }: { default: Hono; documents?: Documents } = module
  return { name, chapter, about, request, source, app, documents }
}

/** All examples, by the name of their file. */
export const examples = new Map<string, Example>()
for (const [chapter, names] of Object.entries(CHAPTERS)) {
  for (const name of names.split(/\s+/)) examples.set(name, await load(chapter, name))
}
