import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Cleanup } from './cleanup.ts'

/** A new folder below the system's temporary one, gone when the test ends. */
export function scratch(cleanup: Cleanup): string {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'plimsoll-'))
  cleanup.add(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
  return folder
}
