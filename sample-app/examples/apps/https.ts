// TLS with a certificate and a key of your own.
// $ curl --cacert cert.pem '/https'
import { Hono } from 'hono'

// An app does not know its protocol; the server does. With `--cert FILE --key FILE` this one speaks
// TLS: `https-server.ts` creates it, and `getRequestListener(app.fetch)` of `@hono/node-server` answers.
export default new Hono().get('/https', c => c.json({ message: 'Hello over HTTPS' }))
