import * as v from 'valibot'
import { PASSWORD_HASH } from './password.ts'

/** Passwords: `secret` and `secret2`. */
const DEMO = `[{"username":"johndoe","email":"johndoe@example.com","full_name":"John Doe",
"disabled":false,"hashed_password":"kLiuPKMgdJc4xFyd81Hpag==\
$kgBK9/FcEICTiO5U5hvD/RIgcDBKJ3Z5UPlqRr+29XE="},
{"username":"alice","email":"alice@example.com","full_name":"Alice Wonderson",
"disabled":true,"hashed_password":"skQyKCIP8yTOIX58FhG6ng==\
$wg/fxt1zsPcqUMmZRYt/26ZDg3nSAWnHBSDK1SsT0s0="}]`

/** The public part of a user. */
export const User = v.object({
  username: v.pipe(v.string(), v.nonEmpty()),
  email: v.string(),
  full_name: v.string(),
  disabled: v.boolean(),
})
const hashed_password = v.pipe(v.string(), v.regex(PASSWORD_HASH, 'must come from --hash-password'))
const Stored = v.strictObject({ ...User.entries, hashed_password })

/** The users by name, from JSON. A Map: a plain object would find `constructor`. */
const Users = v.pipe(
  v.string(),
  v.parseJson(undefined, 'must be JSON'),
  v.array(Stored),
  v.transform(list => new Map(list.map(user => [user.username, user]))),
)

/** Reads `SAMPLE_USERS`; without it there are demo users. @throws ValiError */
export const readUsers = (json = DEMO) => v.parse(Users, json || DEMO)
