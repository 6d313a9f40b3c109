// TLS with a certificate and a key of your own.
// $ curl --cacert cert.pem '/https'
import { Hono } from 'hono'

// An app does not know its protocol. The server does: start this one with `--cert FILE --key FILE`,
// and it speaks TLS. With `@hono/node-server` that is `serve({ fetch: app.fetch, createServer,
// serverOptions: { cert, key } })`, with `createServer` from `node:https`.
export default new Hono().get('/https', c => c.json({ message: 'Hello over HTTPS' }))
