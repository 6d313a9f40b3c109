import { readFileSync } from 'node:fs'

const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')

/** The version of this program. */
export const VERSION = (JSON.parse(manifest) as { version: string }).version

/**
 * The commit that this program was built from, as the build noted it: with `-dirty` if files were
 * changed, `unknown` if there was no git.
 */
export const COMMIT = readFileSync(new URL('../commit', import.meta.url), 'utf8').trim()
