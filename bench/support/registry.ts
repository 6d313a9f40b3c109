import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { addUser } from '../../daemon/accounts/accounts.ts'
import { createToken } from '../../daemon/accounts/tokens.ts'
import { initRegistry, openRegistry } from '../../generator/registry.ts'
import { Program } from './program.ts'

const AT = '2026-11-20T12:00:00Z'
const CLI = join(dirname(fileURLToPath(import.meta.url)), '../../program/cli.js')

/** Rates are what the benchmarks want to exceed. */
const UNLIMITED = {
  PLIMSOLL_LIMITS_PUBLISH_PER_MINUTE: '0',
  PLIMSOLL_LIMITS_NEW_CRATES_PER_DAY: '0',
  PLIMSOLL_LIMITS_VERSIONS_PER_DAY: '0',
}

/** Makes an empty registry with the defaults and a user; the token of that user. */
export async function newRegistry(dir: string): Promise<string> {
  await initRegistry(dir, { env: {} }, {})
  const registry = await openRegistry(dir, { env: {} })
  const user = await addUser(registry.database, { login: 'bench', admin: false, at: AT })
  const order = {
    userId: user.id,
    name: 'bench',
    scopes: null,
    crates: null,
    at: AT,
    expires: null,
  }
  const token = await createToken(registry.database, order)
  await registry.close()
  return token
}

/** The arguments of a daemon at a free port, as `node` takes them. */
export function serveArguments(dir: string, listen = '127.0.0.1:0'): string[] {
  return [CLI, 'serve', '--dir', dir, '--listen', listen]
}

/** Starts the real program, `plimsoll serve`, on a registry folder. */
export function startDaemon(dir: string, env: NodeJS.ProcessEnv = {}): Promise<Program> {
  return Program.start(process.execPath, serveArguments(dir), { env: { ...UNLIMITED, ...env } })
}

/** The rate limits as environment variables that lift them. */
export const unlimited: NodeJS.ProcessEnv = UNLIMITED
