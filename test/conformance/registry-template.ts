import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expectCode } from '../support/command.ts'
import { plimsollHere } from '../support/program.ts'

/**
 * A registry folder with an administrator and a user, to be copied: a few commands once in this process, not once in
 * each test.
 */
export interface RegistryTemplate {
  readonly folder: string
  /** A token of the user `sailor`. */
  readonly token: string
}

let made: Promise<RegistryTemplate> | undefined

export function registryTemplate(): Promise<RegistryTemplate> {
  made ??= makeTemplate()
  return made
}

async function makeTemplate(): Promise<RegistryTemplate> {
  const parent = mkdtempSync(join(realpathSync(tmpdir()), 'plimsoll-template-'))
  process.on('exit', () => rmSync(parent, { recursive: true, force: true }))
  const folder = join(parent, 'registry')
  expectCode('plimsoll init', await plimsollHere(['init', '--dir', folder]), 0)
  // The first user of a registry is its administrator, who may change the owners of any crate.
  await addUser(folder, 'captain')
  return { folder, token: await addUser(folder, 'sailor') }
}

/** Adds a user to the registry folder, beside a running daemon or not; a token of theirs. */
export async function addUser(folder: string, name: string): Promise<string> {
  expectCode('plimsoll user add', await plimsollHere(['user', 'add', name, '--dir', folder]), 0)
  const created = await plimsollHere(['token', 'create', '--user', name, '--dir', folder])
  return expectCode('plimsoll token create', created, 0).stdout.trim()
}
