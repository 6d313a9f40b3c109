// TLS with a certificate and a key of your own.
// $ curl --cacert cert.pem '/https'
import { Hono } from 'hono'

// An app does not know its protocol; the server does. `serve.ts`, beside this file, is one for Node,
// and speaks TLS if it is started with `--cert FILE --key FILE`.
export default new Hono().get('/https', c => c.json({ message: 'Hello over HTTPS' }))
