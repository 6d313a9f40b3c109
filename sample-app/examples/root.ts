import { Hono } from 'hono'

export const app = new Hono()

// An app is made of routes: a method, a path, and a handler that gets the context `c` of a request
// and returns an answer. `c.json` writes JSON, with 200 if nothing else is said.
app.get('/', c => c.json({ message: 'Hello World' }))

export const about = 'One path, one answer.'
export const request = '/'
