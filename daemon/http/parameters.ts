import type { Context } from 'hono'
import {
  type CrateRecord,
  findCrate,
  isName,
  type Registry,
  refuse,
} from '../../generator/index.ts'

const HERE = 'http://here.invalid'

/** The row number in an address or a command; null for others, such as `0x1`, `1e0` or ` 1`. */
export function rowId(text: string | undefined): number | null {
  return text !== undefined && /^[1-9][0-9]{0,14}$/.test(text) ? Number(text) : null
}

/**
 * The path on this server to redirect to; null if it leads elsewhere. Read as browsers do: `\` is
 * `/`, tabs and line ends do not count, `/.//host` becomes `//host`.
 */
export function ownPath(text: string | null | undefined): string | null {
  if (!text?.startsWith('/') || text.length > 2000 || !URL.canParse(text, HERE)) return null
  const url = new URL(text, HERE)
  return url.origin === HERE && !url.pathname.startsWith('//') ? url.pathname + url.search : null
}

/** The crate that `:name` in a path means, in any spelling. Refuses an unknown one. */
export async function crateOf({ database }: Registry, c: Context): Promise<CrateRecord> {
  const name = c.req.param('name') ?? ''
  return (isName(name) && (await findCrate(database, name))) || refuse('crate_unknown', { name })
}
