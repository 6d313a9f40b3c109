import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { DATABASE_FILE } from '../../generator/registry/folder.ts'
import { expectCode, type Run } from './command.ts'
import type { CrateParts } from './crate-builder.ts'
import { writeEmptyFile } from './engine.ts'
import { plimsollHere } from './program.ts'
import { folderOf } from './workplace.ts'
import { writeCrate } from './write-crate.ts'

/** A new registry folder, and commands that work on it in this process. */
export interface RegistryFolder {
  /** The folder around it, to which paths are relative. */
  readonly folder: string
  readonly dir: string
  run(...args: readonly string[]): Promise<Run>
  /** Runs a command that must succeed, and returns its stdout. */
  ok(...args: readonly string[]): Promise<string>
  /** Writes a `.crate` below `folder`, and returns its path. */
  put(path: string, parts: CrateParts | Uint8Array): string
}

/** Makes a registry at https://crates.example, without a git index if `env` does not say more. */
export async function registryFolder(
  t: TestContext,
  env: NodeJS.ProcessEnv = { PLIMSOLL_GIT_INDEX: 'off' },
): Promise<RegistryFolder> {
  const folder = folderOf(t)
  const dir = join(folder, 'registry')
  const run = (...args: readonly string[]) =>
    plimsollHere([...args, '--dir', dir], env, { cwd: folder })
  const ok = async (...args: readonly string[]) =>
    expectCode(args.join(' '), await run(...args), 0).stdout
  mkdirSync(dir)
  await writeEmptyFile(join(dir, DATABASE_FILE))
  await ok('init', '--base-url', 'https://crates.example')
  return { folder, dir, run, ok, put: (path, parts) => writeCrate(join(folder, path), parts) }
}
