import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Cleanup } from '../support/cleanup.ts'
import { expectCode } from '../support/command.ts'
import { newDatabase } from '../support/engine.ts'
import { plimsollHere } from '../support/program.ts'

/**
 * A registry folder with an administrator and a user, to be copied: a few commands once in this
 * process, not once in each test.
 */
export interface RegistryTemplate {
  readonly folder: string
  /** A token of the user `sailor`. */
  readonly token: string
  /** The URL of its database when that is on a server. */
  readonly url: string | null
}

let made: Promise<RegistryTemplate> | undefined

/** Returns the template of this process. */
export function registryTemplate(): Promise<RegistryTemplate> {
  made ??= makeTemplate()
  return made
}

/** Copies the template to a folder that is not there, with its records; returns its token. */
export async function copyTemplate(cleanup: Cleanup, home: string): Promise<string> {
  const { folder, token, url } = await registryTemplate()
  cpSync(folder, home, { recursive: true })
  if (url === null) return token
  const { settings, drop } = await newDatabase(new URL(url).pathname.slice(1))
  cleanup.add(drop)
  const file = join(home, 'plimsoll.toml')
  writeFileSync(file, readFileSync(file, 'utf8').replace(url, settings['database.url'] ?? ''))
  return token
}

async function makeTemplate(): Promise<RegistryTemplate> {
  const parent = mkdtempSync(join(realpathSync(tmpdir()), 'plimsoll-template-'))
  process.on('exit', () => rmSync(parent, { recursive: true, force: true }))
  const folder = join(parent, 'registry')
  // A database on a server ends with the server.
  const { 'database.url': url = null } = (await newDatabase()).settings
  const set = url === null ? [] : ['--set', `database.url=${url}`]
  expectCode('plimsoll init', await plimsollHere(['init', '--dir', folder, ...set]), 0)
  // The first user of a registry is its administrator, who may change the owners of any crate.
  await addUser(folder, 'captain')
  return { folder, url, token: await addUser(folder, 'sailor') }
}

/** Adds a user to the registry folder, beside a running daemon or not; a token of theirs. */
export async function addUser(folder: string, name: string): Promise<string> {
  expectCode('plimsoll user add', await plimsollHere(['user', 'add', name, '--dir', folder]), 0)
  const created = await plimsollHere(['token', 'create', '--user', name, '--dir', folder])
  return expectCode('plimsoll token create', created, 0).stdout.trim()
}
