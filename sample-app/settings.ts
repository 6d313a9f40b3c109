import * as v from 'valibot'
import { isPasswordHash } from './login/password.ts'
import type { StoredUser } from './login/users.ts'

/** What the examples need to be told, all of it secret in earnest. */
export interface Settings {
  readonly xToken: string
  readonly xKey: string
  readonly users: readonly StoredUser[]
}

/** Passwords: `secret` and `secret2`. */
const DEMO: Settings = {
  xToken: 'fake-super-secret-token',
  xKey: 'fake-super-secret-key',
  users: [
    {
      username: 'johndoe',
      email: 'johndoe@example.com',
      full_name: 'John Doe',
      disabled: false,
      hashed_password: 'scrypt$16384$8$1$kLiuPKMgdJc4xFyd81Hpag==$kgBK9/FcEICTiO5U5hvD/RIgcDBKJ3Z5UPlqRr+29XE=',
    },
    {
      username: 'alice',
      email: 'alice@example.com',
      full_name: 'Alice Wonderson',
      disabled: true,
      hashed_password: 'scrypt$16384$8$1$skQyKCIP8yTOIX58FhG6ng==$wg/fxt1zsPcqUMmZRYt/26ZDg3nSAWnHBSDK1SsT0s0=',
    },
  ],
}

/** Header values arrive as Latin-1 without outer spaces; a secret of other characters could never match. */
const headerSecret = v.optional(
  v.pipe(
    v.string(),
    v.regex(
      /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/,
      'must be ASCII text that neither is empty nor begins or ends with a space',
    ),
  ),
)

const users = v.optional(
  v.pipe(
    v.string(),
    v.parseJson(undefined, 'must be JSON'),
    v.array(
      v.strictObject({
        username: v.pipe(v.string(), v.minLength(1)),
        email: v.string(),
        full_name: v.string(),
        disabled: v.boolean(),
        hashed_password: v.pipe(v.string(), v.check(isPasswordHash, 'must come from --hash-password')),
      }),
    ),
    v.check(
      given => new Set(given.map(({ username }) => username)).size === given.length,
      'no two users may have the same username',
    ),
  ),
)

const environment = v.object({ SAMPLE_X_TOKEN: headerSecret, SAMPLE_X_KEY: headerSecret, SAMPLE_USERS: users })

/** A setting that cannot be used; the message names it and what is accepted. */
export class SettingsError extends Error {}

/**
 * Reads `SAMPLE_X_TOKEN`, `SAMPLE_X_KEY` and `SAMPLE_USERS` (a JSON array of users); what is absent has a demo value.
 * @returns the settings, and the names of those that have demo values
 * @throws SettingsError naming everything that is wrong
 */
export function readSettings(env: NodeJS.ProcessEnv): { settings: Settings; demo: string[] } {
  const parsed = v.safeParse(environment, env)
  if (!parsed.success) {
    throw new SettingsError(
      parsed.issues.map(issue => `${v.getDotPath(issue) ?? 'settings'}: ${issue.message}`).join('\n'),
    )
  }
  const { SAMPLE_X_TOKEN: xToken, SAMPLE_X_KEY: xKey, SAMPLE_USERS: given } = parsed.output
  return {
    settings: { xToken: xToken ?? DEMO.xToken, xKey: xKey ?? DEMO.xKey, users: given ?? DEMO.users },
    demo: Object.keys(environment.entries).filter(name => env[name] === undefined),
  }
}

/** The demo values, for tests and the first look. */
export const demoSettings: Settings = DEMO
