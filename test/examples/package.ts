import { copyFileSync, existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../support/plimsoll.ts'

/**
 * Copies an example into a folder whose packages have `plimsoll`, and returns its path. The package
 * is this checkout; test/docs/library.test.ts looks at what npm packs of it.
 */
export function withPackage(folder: string, name: string): string {
  const modules = join(folder, 'node_modules')
  mkdirSync(modules, { recursive: true })
  if (!existsSync(join(modules, 'plimsoll'))) symlinkSync(root, join(modules, 'plimsoll'))
  copyFileSync(join(root, 'examples', name), join(folder, name))
  return join(folder, name)
}
