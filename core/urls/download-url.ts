import { lowerPrefix, type Name, prefix } from '../name.ts'
import type { Version } from '../version.ts'

/** Returns the download URL of a version as Cargo makes it (specification A.1, `download.rs`). */
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
