import { decoded } from '../../core/urls/decoded.ts'

export interface FileAddress {
  readonly path: string
  /** The first and the last line, from 1; null for the whole file. */
  readonly lines: readonly [from: number, to: number] | null
}

/** Two versions, and a file that differs between them; null for all files. */
export interface CompareAddress {
  readonly from: string
  readonly to: string
  readonly path: string | null
}

/** Reads the fragment `#{path}:L{from}-L{to}`; null if it names no file. */
export function readFileAddress(fragment: string): FileAddress | null {
  const [, path = '', from, to] =
    /^(.*?)(?::L([1-9]\d{0,8})(?:-L([1-9]\d{0,8}))?)?$/s.exec(
      decoded(fragment.replace(/^#/, '')),
    ) ?? []
  if (path === '') return null
  if (from === undefined) return { path, lines: null }
  const [first, last] = [Number(from), Number(to ?? from)]
  return { path, lines: [Math.min(first, last), Math.max(first, last)] }
}

/** Writes the fragment that `readFileAddress` reads. */
export function fileFragment({ path, lines }: FileAddress): string {
  const [from, to] = lines ?? []
  const range = from === undefined ? '' : from === to ? `:L${from}` : `:L${from}-L${to}`
  return `#${encoded(path)}${range}`
}

/** Reads the fragment `#{from}...{to}:{path}`; null if it names no two versions. */
export function readCompareAddress(fragment: string): CompareAddress | null {
  const [, from = '', to = '', path] =
    /^(.+?)\.\.\.([^:]+)(?::(.+))?$/s.exec(decoded(fragment.replace(/^#/, ''))) ?? []
  return from === '' ? null : { from, to, path: path ?? null }
}

/** Writes the fragment that `readCompareAddress` reads. */
export function compareFragment({ from, to, path }: CompareAddress): string {
  return `#${from}...${to}${path === null ? '' : `:${encoded(path)}`}`
}

/** Escapes a path; a colon stays, because only one before a line number means something. */
function encoded(path: string): string {
  return encodeURIComponent(path).replace(/%(?:2F|3A|2B|40|2C|3D|24|26)/g, decodeURIComponent)
}
