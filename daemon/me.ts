import { html } from 'hono/html'
import { cargoConfig, type Registry } from '../generator/index.ts'
import type { OpenHandler } from './route.ts'

/** `GET /me`: the page that `cargo login` points to; says how to get a token. */
export function mePage(registry: Registry): OpenHandler {
  const { settings, urls } = registry
  const name = settings.registry.name
  const config = cargoConfig(name, urls, settings.auth.required)
  return c =>
    c.html(html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Your token – ${settings.registry.title}</title></head>
<body>
<h1>Getting a token</h1>
<p>Tokens are given out by whoever runs this registry, with <code>plimsoll token create --user NAME</code>.
The very first one, for <code>admin</code>, was printed when the daemon first started.</p>
<p>Put this into <code>.cargo/config.toml</code>:</p>
<pre>${config}</pre>
<p>Then hand Cargo your token:</p>
<pre>cargo login --registry ${name}</pre>
</body>
</html>`)
}
