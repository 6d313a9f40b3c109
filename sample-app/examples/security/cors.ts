// Scripts of another site may ask.
// $ curl --header 'Origin: https://app.example' --include '/api/items/'
import { Hono } from 'hono'
import { cors } from 'hono/cors'
import { ITEMS } from '../items.ts'

// A browser asks first, with OPTIONS and without a cookie, whether a script of that origin may send
// this method with these headers. `cors` answers it, so it stands before checks and logins.
const origin = ['https://app.example', 'https://admin.example']
const shared = cors({ origin, allowMethods: ['GET'], credentials: true, maxAge: 600 })

export default new Hono().use('/api/*', shared).get('/api/items/', c => c.json(ITEMS))
