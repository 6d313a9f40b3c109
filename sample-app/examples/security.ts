import { App } from '../app.ts'
import { dependency, depends } from '../input/dependency.ts'
import { form } from '../input/parameter.ts'
import { text } from '../input/text.ts'
import { bearerToken, CHALLENGE } from '../login/bearer.ts'
import { UserStore } from '../login/users.ts'
import type { Settings } from '../settings.ts'
import { refusal } from '../wire/response.ts'

/** The fields of the OAuth 2.0 password flow; only the first three are used by anyone. */
const passwordForm = {
  grant_type: form(text, { default: null, pattern: '^password$' }),
  username: form(text),
  password: form(text),
  scope: form(text, { default: '' }),
  client_id: form(text, { default: null }),
  client_secret: form(text, { default: null }),
}

/**
 * A login: a password becomes a bearer token, and the token tells who is asking. The token is the username, which shows
 * the flow and protects nothing; a real one is random or signed.
 */
export function security({ users }: Settings): App {
  const store = new UserStore(users)
  const currentUser = dependency({ token: bearerToken('token') }, ({ token }) => {
    const user = store.find(token)
    if (!user) throw refusal(401, 'Invalid authentication credentials', CHALLENGE)
    return user
  })
  const activeUser = dependency({ user: depends(currentUser) }, ({ user }) => {
    if (user.disabled) throw refusal(400, 'Inactive user')
    return user
  })

  const app = new App('Login')
  app.post('/token', passwordForm, async ({ username, password }) => {
    const user = await store.authenticate(username, password)
    if (!user) throw refusal(400, 'Incorrect username or password')
    return { access_token: user.username, token_type: 'bearer' }
  })
  app.get('/users/me', { user: depends(activeUser) }, ({ user }) => user)
  return app
}
