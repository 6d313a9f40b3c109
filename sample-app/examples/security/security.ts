// A login: password to bearer token to user.
// $ curl --header 'Authorization: Bearer johndoe' '/users/me'
import { type Context, Hono } from 'hono'
import { createMiddleware } from 'hono/factory'
import * as v from 'valibot'
import { complete, valid } from '../../valid/valid.ts'
import { isPassword, User, usersOf } from './users.ts'

// Of the OAuth 2.0 password flow; other fields of it, such as `scope`, are dropped.
const PasswordForm = v.object({
  grant_type: v.nullish(v.pipe(v.string(), v.regex(/^password$/)), null),
  username: v.string(),
  password: v.string(),
})

// For the documentation: the answers, and the proof of who is asking.
const token = v.object({ access_token: v.string(), token_type: v.literal('bearer') })
const Token = v.pipe(token, v.title('Token'))
const bearer = { type: 'oauth2', flows: { password: { scopes: {}, tokenUrl: 'token' } } }
const security = { OAuth2PasswordBearer: bearer }
export const documents = {
  'POST /token': { answers: { 200: Token }, errors: [400] },
  'GET /users/me': { answers: { 200: User }, errors: [400, 401], security },
}

// A 401 says how to authenticate (RFC 6750).
const refuse = (c: Context, detail: string) =>
  c.json({ detail }, 401, { 'WWW-Authenticate': 'Bearer' })

// The user is found before the handler, which has a user or does not run. The schema drops all
// other keys: the hash of the password stays here.
type Sets = { Variables: { user: v.InferOutput<typeof User> } }
const activeUser = createMiddleware<Sets>(async (c, next) => {
  const header = c.req.header('Authorization') ?? ''
  const [scheme, token = ''] = /^bearer(?: +(.*))?$/i.exec(header) ?? []
  if (scheme === undefined) return refuse(c, 'Not authenticated')
  const user = usersOf(c).get(token.trim())
  if (!user) return refuse(c, 'Invalid authentication credentials')
  if (user.disabled) return c.json({ detail: 'Inactive user' }, 400)
  c.set('user', v.parse(User, user))
  await next()
})

// The users are in `SAMPLE_USERS`. The token is the username and protects nothing: `jwt` signs it.
export default new Hono()
  .post('/token', valid('form', PasswordForm), complete, async c => {
    const { username, password } = c.req.valid('form')
    if (await isPassword(c, username, password)) {
      return c.json({ access_token: username, token_type: 'bearer' as const })
    }
    return c.json({ detail: 'Incorrect username or password' }, 400)
  })
  .get('/users/me', activeUser, c => c.json(c.var.user))
