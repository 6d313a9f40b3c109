import { html as template, raw as trusted } from 'hono/html'

/** HTML that is safe in a page: every value in it is escaped or is markup itself. */
export type Markup = ReturnType<typeof trusted>

/** A value in a template: markup is kept, other text escaped, null and booleans left out. */
export type Child = Markup | string | number | boolean | null | undefined | readonly Child[]

/** Template tag that renders HTML and escapes its values. */
export function html(strings: TemplateStringsArray, ...values: readonly Child[]): Markup {
  const result = template(strings, ...values)
  if (result instanceof Promise) throw new TypeError('a view was given a promise')
  return result
}

/** Joins items with a separator. */
export function join(items: readonly Child[], separator: Child = ', '): Markup {
  return html`${items.map((item, at) => [at === 0 ? null : separator, item])}`
}

/** Marks text as HTML. Only for the output of the sanitizer, the highlighter and the views. */
export function raw(text: string): Markup {
  return trusted(text)
}
