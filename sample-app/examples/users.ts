import * as v from 'valibot'
import { PASSWORD_HASH } from '../login/password.ts'

/** Passwords: `secret` and `secret2`. */
const DEMO = `[{"username":"johndoe","email":"johndoe@example.com","full_name":"John Doe",
"disabled":false,"hashed_password":"kLiuPKMgdJc4xFyd81Hpag==\
$kgBK9/FcEICTiO5U5hvD/RIgcDBKJ3Z5UPlqRr+29XE="},
{"username":"alice","email":"alice@example.com","full_name":"Alice Wonderson",
"disabled":true,"hashed_password":"skQyKCIP8yTOIX58FhG6ng==\
$wg/fxt1zsPcqUMmZRYt/26ZDg3nSAWnHBSDK1SsT0s0="}]`

const StoredUser = v.strictObject({
  username: v.pipe(v.string(), v.minLength(1)),
  email: v.string(),
  full_name: v.string(),
  disabled: v.boolean(),
  hashed_password: v.pipe(v.string(), v.regex(PASSWORD_HASH, 'must come from --hash-password')),
})

/** The users by name, from JSON. A Map: a plain object would find `constructor`. */
const byName = v.pipe(
  v.string(),
  v.parseJson(undefined, 'must be JSON'),
  v.array(StoredUser),
  v.transform(list => new Map(list.map(one => [one.username, one]))),
)

export const users = v.optional(byName, DEMO)
export type Users = { Bindings: { SAMPLE_USERS: v.InferOutput<typeof users> } }
