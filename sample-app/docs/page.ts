import type { Context } from 'hono'
import { html, raw } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'
import type { SampleEnv } from '../wire/target.ts'

/** A piece of HTML; what `html` interpolates is escaped unless it is one of these. */
export type Html = HtmlEscapedString | Promise<HtmlEscapedString>

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --soft: #8882; }
body { font: 1rem/1.55 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.1rem; margin-top: 2.2rem; }
code, pre { font: 0.9rem/1.5 ui-monospace, monospace; }
pre { background: var(--soft); padding: 0.7rem 1rem; overflow-x: auto; border-radius: 6px; }
table { border-collapse: collapse; width: 100%; } caption { text-align: left; font-weight: 600; padding: 0.4rem 0; }
th, td { text-align: left; vertical-align: top; padding: 0.35rem 0.8rem 0.35rem 0; border-bottom: 1px solid var(--line); }
.method { display: inline-block; min-width: 3.2rem; font-weight: 700; }`

/**
 * A whole page. It loads nothing, runs no script and may be framed by nobody; forms may post to the application itself.
 */
export function page(context: Context<SampleEnv>, title: string, content: Html): Response | Promise<Response> {
  context.header(
    'Content-Security-Policy',
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  )
  context.header('X-Content-Type-Options', 'nosniff')
  const document = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${raw(STYLE)}</style>
</head>
<body>
${content}
</body>
</html>
`
  return context.html(document, 200, { 'Content-Type': 'text/html; charset=utf-8' })
}
