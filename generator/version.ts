import { existsSync, readFileSync } from 'node:fs'

const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')

/** The version of this program. */
export const VERSION = (JSON.parse(manifest) as { version: string }).version

/** Commit of the build: with `-dirty` if files were changed, `unknown` without git. */
export const COMMIT = readFileSync(new URL('../commit', import.meta.url), 'utf8').trim()

/** How this program was packed: `archive for linux-x64`, `npm package` or `checkout` for example. */
export function packing(): string {
  const note = new URL('../packed', import.meta.url)
  if (existsSync(note)) return readFileSync(note, 'utf8').trim()
  return existsSync(new URL('../../tsconfig.json', import.meta.url)) ? 'checkout' : 'npm package'
}
