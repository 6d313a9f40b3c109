import { Hono } from 'hono'
import * as v from 'valibot'
import { ask } from '../../ask/ask.ts'

// Form fields come urlencoded or as multipart; an empty one counts as absent. A body that is no
// form has none of them, so that both are missing.
const Login = v.pipe(v.object({ username: v.string() }), v.title('Login'))

const form = { username: v.string(), password: v.string() }

// The password is asked for and never answered.
export const app = new Hono().post('/login/', ask({ form, answers: { 200: Login } }), c => {
  return c.json({ username: c.var.form.username })
})

export const about = 'Form fields, urlencoded or multipart.'
export const request = '--data username=Foo --data password=bar /login/'
