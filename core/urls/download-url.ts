import { lowerPrefix, type Name, prefix } from '../name.ts'
import type { Version } from '../version.ts'

/**
 * Returns the download URL of a version: replaces the five markers of the template, or appends
 * `/{crate}/{version}/download` if it has no markers (specification A.1, Cargo's `download.rs`).
 */
export function expandDl(
  template: string,
  { name, version, cksum }: Readonly<{ name: Name; version: Version; cksum: string }>,
): string {
  const markers = new Map<string, string>([
    ['{crate}', name],
    ['{version}', version],
    ['{prefix}', prefix(name)],
    ['{lowerprefix}', lowerPrefix(name)],
    ['{sha256-checksum}', cksum],
  ])
  const hasMarker = [...markers.keys()].some(marker => template.includes(marker))
  let url = hasMarker ? template : `${template}/{crate}/{version}/download`
  for (const [marker, value] of markers) url = url.replaceAll(marker, () => value)
  return url
}
