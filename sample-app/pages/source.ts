import highlight from 'highlight.js/lib/core'
import typescript from 'highlight.js/lib/languages/typescript'

highlight.registerLanguage('typescript', typescript)

/** Modules of Hono that are helpers, and some with pages elsewhere; all others are middleware. */
const HELPERS = /^(?:adapter|cookie|factory|html|jwt|streaming)$/
const PAGES: Readonly<Record<string, string>> = {
  hono: 'api/hono',
  client: 'guides/rpc',
  'http-exception': 'api/exception',
  'serve-static': 'getting-started/nodejs#serve-static-files',
}

/** Source as HTML, in color. */
export const colored = (source: string) =>
  highlight.highlight(source, { language: 'typescript' }).value

/** The pages on hono.dev and valibot.dev about what an example uses, by name. */
export function linksOf(source: string) {
  const links = new Map<string, string>()
  for (const [, module = '', name = module] of source.matchAll(/from '(hono(?:\/([\w-]+))?)'/g)) {
    const page = PAGES[name] ?? `${HELPERS.test(name) ? 'helpers' : 'middleware/builtin'}/${name}`
    links.set(module, `https://hono.dev/docs/${page}`)
  }
  if (source.includes('valid(')) links.set('validator', 'https://hono.dev/docs/guides/validation')
  for (const [, name = ''] of source.matchAll(/\bv\.([a-z]\w+)\(/g))
    links.set(`v.${name}`, `https://valibot.dev/api/${name}/`)
  return [...links]
}
