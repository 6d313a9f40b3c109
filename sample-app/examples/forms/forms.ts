// Form fields, urlencoded or multipart.
// $ curl --data username=Foo --data password=bar '/login/'
import { Hono } from 'hono'
import * as v from 'valibot'
import { complete, valid } from '../../valid/valid.ts'

// An empty field counts as absent, since browsers send it. A body that is no form has no fields.
const Login = v.object({ username: v.string(), password: v.string() })

// The password is asked for and never answered.
export default new Hono().post('/login/', valid('form', Login), complete, c => {
  return c.json({ username: c.req.valid('form').username })
})
