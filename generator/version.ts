import { readFileSync } from 'node:fs'

const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')

/** The version of this program. */
export const VERSION = (JSON.parse(manifest) as { version: string }).version

/** Commit of the build: with `-dirty` if files were changed, `unknown` without git. */
export const COMMIT = readFileSync(new URL('../commit', import.meta.url), 'utf8').trim()
