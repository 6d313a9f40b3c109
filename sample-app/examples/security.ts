import { type Context, Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import * as v from 'valibot'
import { ask, dependency } from '../ask/ask.ts'
import { DECOY, verifyPassword } from '../login/password.ts'
import { type Users, users } from './users.ts'

export const settings = v.object({ SAMPLE_USERS: users })

export const app = new Hono<Users>()

const { entries } = v.object({ username: v.string(), email: v.string(), full_name: v.string() })
const User = v.pipe(v.object({ ...entries, disabled: v.boolean() }), v.title('User'))
const token = v.object({ access_token: v.string(), token_type: v.literal('bearer') })
const Token = v.pipe(token, v.title('Token'))
const Failure = v.pipe(v.object({ detail: v.string() }), v.title('Failure'))

// The fields of the OAuth 2.0 password flow; nobody uses the last three.
const passwordForm = {
  grant_type: v.nullish(v.pipe(v.string(), v.regex(/^password$/)), null),
  username: v.string(),
  password: v.string(),
  scope: v.optional(v.string(), ''),
  client_id: v.nullish(v.string(), null),
  client_secret: v.nullish(v.string(), null),
}

// The token is the username, which shows the flow and protects nothing: a real one is random or
// signed. An unknown user costs as much time as a wrong password.
app.post('/token', ask({ form: passwordForm, answers: { 200: Token, 400: Failure } }), async c => {
  const { username, password } = c.var.form
  const hash = c.env.SAMPLE_USERS.get(username)?.hashed_password ?? DECOY
  if (!(await verifyPassword(password, hash))) {
    throw new HTTPException(400, { message: 'Incorrect username or password' })
  }
  return c.json({ access_token: username, token_type: 'bearer' })
})

const bearer = { type: 'oauth2', flows: { password: { scopes: {}, tokenUrl: 'token' } } }
const answers = { 400: Failure, 401: Failure }
const inputs = { security: { OAuth2PasswordBearer: bearer }, answers }

const currentUser = dependency(inputs, (_, c: Context<Users>) => {
  const header = c.req.header('authorization') ?? ''
  const [, token = ''] = /^bearer(?: +(.*))?$/i.exec(header) ?? refuse(c, 'Not authenticated')
  const user = c.env.SAMPLE_USERS.get(token.trim())
  return user ?? refuse(c, 'Invalid authentication credentials')
})

// A 401 says how to authenticate (RFC 6750); a header that was set on the context stays.
function refuse(c: Context, message: string): never {
  c.header('WWW-Authenticate', 'Bearer')
  throw new HTTPException(401, { message })
}

const activeUser = dependency({ needs: { user: currentUser } }, ({ user }) => {
  if (user.disabled) throw new HTTPException(400, { message: 'Inactive user' })
  return user
})

// The schema drops what is not in it: the hash of the password stays here.
app.get('/users/me', ask({ needs: { user: activeUser }, answers: { 200: User } }), c => {
  return c.json(v.parse(User, c.var.user))
})

export const about = 'A login: password to bearer token to user.'
export const request = `--header 'Authorization: Bearer johndoe' /users/me`
