import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { addUser } from '../../../generator/accounts/accounts.ts'
import { createToken } from '../../../generator/accounts/tokens.ts'
import { openRegistry } from '../../../generator/open.ts'
import { operatorChange } from '../../../generator/records/change.ts'
import { initRegistry } from '../../../generator/registry/registry.ts'
import { Program } from './program.ts'

const AT = '2026-11-20T12:00:00Z'
/** The real program, as it is installed. */
export const CLI = join(dirname(fileURLToPath(import.meta.url)), '../../../program/cli.js')

/** The folder for inputs that take long to make, outside of the checkout. */
export const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'plimsoll')

/** The benchmarks exceed the default rates. */
export const UNLIMITED = {
  PLIMSOLL_LIMITS_PUBLISH_PER_MINUTE: '0',
  PLIMSOLL_LIMITS_NEW_CRATES_PER_DAY: '0',
  PLIMSOLL_LIMITS_VERSIONS_PER_DAY: '0',
  PLIMSOLL_LIMITS_SEARCHES_PER_MINUTE: '0',
}

/** Makes an empty registry with a user; returns the user's token. */
export async function newRegistry(
  dir: string,
  settings: Readonly<Record<string, string>> = {},
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  await initRegistry(dir, { env }, settings)
  return addToken(dir, 'bench', env)
}

/** Adds a user; returns a token that may do everything. */
export async function addToken(
  dir: string,
  login: string,
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { database, close } = await openRegistry(dir, { env })
  const user = await addUser(database, { login, admin: false }, operatorChange(AT))
  const order = { userId: user.id, name: login, scopes: null, crates: null, expires: null }
  const { token } = await createToken(database, order, operatorChange(AT))
  await close()
  return token
}

/** Starts the real program, `plimsoll serve`, on a registry folder. */
export function startDaemon(dir: string, env: NodeJS.ProcessEnv = {}): Promise<Program> {
  const args = [CLI, 'serve', '--dir', dir, '--listen', '127.0.0.1:0']
  return Program.start(process.execPath, args, { env: { ...UNLIMITED, ...env } })
}
