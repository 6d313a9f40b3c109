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

/** The pages on hono.dev and valibot.dev about an example's imports, by name. */
export function linksOf(source: string): [name: string, url: string][] {
  const imported = source.matchAll(/from '(hono(?:\/([\w-]+))?)'/g)
  const modules = [...imported].map(([, module = '', name = module]) => {
    const page = `${HELPERS.test(name) ? 'helpers' : 'middleware/builtin'}/${name}`
    return [module, `https://hono.dev/docs/${PAGES[name] ?? page}`] as const
  })
  const guide = ['validator', 'https://hono.dev/docs/guides/validation'] as const
  const called = [...source.matchAll(/\bv\.([a-z]\w+)\(/g)].map(([, name = '']) => {
    return [`v.${name}`, `https://valibot.dev/api/${name}/`] as const
  })
  return [...new Map([...modules, ...(source.includes('valid(') ? [guide] : []), ...called])]
}
