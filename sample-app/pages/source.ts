import highlight from 'highlight.js/lib/core'
import typescript from 'highlight.js/lib/languages/typescript'

highlight.registerLanguage('typescript', typescript)

/** Modules of Hono with another page than a middleware's. */
const PAGES: Readonly<Record<string, string>> = {
  hono: 'api/hono',
  adapter: 'helpers/adapter',
  client: 'guides/rpc',
  cookie: 'helpers/cookie',
  factory: 'helpers/factory',
  html: 'helpers/html',
  'http-exception': 'api/exception',
  jwt: 'helpers/jwt',
  'serve-static': 'getting-started/nodejs#serve-static-files',
  streaming: 'helpers/streaming',
}

/** Source as HTML, in color. */
export const colored = (source: string) =>
  highlight.highlight(source, { language: 'typescript' }).value

/** The pages on hono.dev and valibot.dev about an example's imports, by name. */
export function linksOf(source: string): [name: string, url: string][] {
  const modules = [...source.matchAll(/from 'hono(?:\/([\w-]+))?'/g)].map(([, name = 'hono']) => {
    const page = PAGES[name] ?? `middleware/builtin/${name}`
    return [name === 'hono' ? name : `hono/${name}`, `https://hono.dev/docs/${page}`] as const
  })
  const guide = ['validator', 'https://hono.dev/docs/guides/validation'] as const
  const called = [...source.matchAll(/\bv\.([a-z]\w+)\(/g)].map(([, name = '']) => {
    return [`v.${name}`, `https://valibot.dev/api/${name}/`] as const
  })
  return [...new Map([...modules, ...(source.includes('valid(') ? [guide] : []), ...called])]
}
