import { Hono } from 'hono'

export const app = new Hono()

// An app does not know what it is served over. The server does: start this one with
// `--cert FILE --key FILE`, and it speaks TLS.
app.get('/https', c => c.json({ message: 'Hello over HTTPS' }))

export const about = 'TLS with a certificate and a key of your own.'
export const request = '/https'
