// Files as they are.
// $ curl '/static/hello.txt'
import { Hono } from 'hono'
import { serveStatic } from 'hono/serve-static'

// `@hono/node-server/serve-static`, `hono/deno` and `hono/bun` read a folder. This is their common
// part: it finds the type by the name, and lets no `..` out of its root. Here files are in memory.
const FILES = new Map([
  ['static/hello.txt', 'Hello\n'],
  ['static/style.css', 'body { color: teal }\n'],
])

const files = serveStatic({
  getContent: async path => FILES.get(path.replace(/^\.?\//, '')) ?? null,
  // The app may stand below a path of another.
  rewriteRequestPath: path => path.slice(path.indexOf('/static/')),
  onFound: (_, c) => c.header('Cache-Control', 'public, max-age=600'),
})

export default new Hono().get('/static/*', files)
