import { html as template, raw as trusted } from 'hono/html'

/** HTML that is safe to put into a page: every value that went into it was escaped or is markup itself. */
export type Markup = ReturnType<typeof trusted>

/** What a template takes: markup stays as it is, text and numbers are escaped, `null`, `undefined` and booleans are nothing. */
export type Child = Markup | string | number | boolean | null | undefined | readonly Child[]

/** Template tag of every view. The values are plain data, so it never waits for anything. */
export function html(strings: TemplateStringsArray, ...values: readonly Child[]): Markup {
  const result = template(strings, ...values)
  if (result instanceof Promise) throw new TypeError('a view was given a promise')
  return result
}

/** Marks text as HTML. Only for the output of the sanitiser, the highlighter and of views. */
export function raw(text: string): Markup {
  return trusted(text)
}
