import { readFileSync } from 'node:fs'
import type { Context } from 'hono'
import { html, raw } from 'hono/html'
import { STYLE } from './style.ts'

/** Compiled code runs from `dist/`; the script for browsers stays among the sources. */
const SCRIPT = readFileSync(new URL('../../../sample-app/pages/try.js', import.meta.url), 'utf8')
/** A whole page, for a route behind `pageHeaders`. */
export function page(c: Context, title: string, content: ReturnType<typeof html>) {
  const nonce = c.get('secureHeadersNonce')
  const document = html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style nonce="${nonce}">${raw(STYLE)}</style>
<header><a href="/">Sample application</a></header>
<main>
${content}
</main>
<script nonce="${nonce}">${raw(SCRIPT)}</script>
</html>
`
  return c.html(document, 200, { 'Content-Type': 'text/html; charset=utf-8' })
}
