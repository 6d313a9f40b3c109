/** The id that somebody names in an address or a command; null for what is none, such as `0x1`, `1e0` or ` 1`. */
export function rowId(text: string | undefined): number | null {
  return text !== undefined && /^[1-9][0-9]{0,14}$/.test(text) ? Number(text) : null
}
