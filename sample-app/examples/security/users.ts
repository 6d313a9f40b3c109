import type { Context } from 'hono'
import { env } from 'hono/adapter'
import * as v from 'valibot'
import { DECOY, PASSWORD_HASH, verifyPassword } from './password.ts'

/** Passwords: `secret` and `secret2`. */
const DEMO = `[{"username":"johndoe","email":"johndoe@example.com","full_name":"John Doe",
"disabled":false,"hashed_password":"kLiuPKMgdJc4xFyd81Hpag==\
$kgBK9/FcEICTiO5U5hvD/RIgcDBKJ3Z5UPlqRr+29XE="},
{"username":"alice","email":"alice@example.com","full_name":"Alice Wonderson",
"disabled":true,"hashed_password":"skQyKCIP8yTOIX58FhG6ng==\
$wg/fxt1zsPcqUMmZRYt/26ZDg3nSAWnHBSDK1SsT0s0="}]`

const username = v.pipe(v.string(), v.nonEmpty())
const fields = { username, email: v.string(), full_name: v.string(), disabled: v.boolean() }
/** The public part of a user. */
export const User = v.pipe(v.object(fields), v.title('User'))
const words = 'SAMPLE_USERS: hashed_password must come from --hash-password'
const hashed_password = v.pipe(v.string(), v.regex(PASSWORD_HASH, words))

/** The users by name, from JSON. A Map: a plain object would find `constructor`. */
const Users = v.pipe(
  v.string(),
  v.parseJson(),
  v.array(v.strictObject({ ...fields, hashed_password })),
  v.transform(list => new Map(list.map(user => [user.username, user]))),
)

/** Reads `SAMPLE_USERS`; without it there are demo users. @throws ValiError */
export const readUsers = (json = DEMO) =>
  v.parse(Users, json || DEMO, { message: ({ message }) => `SAMPLE_USERS: ${message}` })
export const usersOf = (c: Context) => readUsers(env<{ SAMPLE_USERS?: string }>(c).SAMPLE_USERS)

/** Whether it is the user's password. An unknown user costs as much time as a wrong password. */
export function isPassword(c: Context, username: string, password: string): Promise<boolean> {
  return verifyPassword(password, usersOf(c).get(username)?.hashed_password ?? DECOY)
}
