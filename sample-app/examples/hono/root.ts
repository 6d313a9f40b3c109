// One path, one answer.
// $ curl '/'
import { Hono } from 'hono'

// An app is made of routes: a method, a path, and a handler that gets the context `c` of a request
// and returns an answer. `c.json` writes JSON, with status 200 if nothing else is said.
export default new Hono().get('/', c => c.json({ message: 'Hello World' }))
