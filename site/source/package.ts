import type { Name } from '../../core/name.ts'
import { frontPath, indexPath } from '../../core/paths/tree.ts'
import type { Contents } from '../../core/tarball/contents.ts'
import type { Linker } from '../elements/links.ts'
import { html, type Markup } from '../elements/markup.ts'
import type { SiteConfig } from '../site-config.ts'

/** Cargo's own limits for unpacking (`sources/registry/mod.rs`). */
const UNPACKED_MAX = 512 * 1024 * 1024
const RATIO_MAX = 20

/** The headers of one file with a long name, and the padding after it. */
const FILE_EXTRA = 4096

/** Bytes for folders and the end of an archive. */
const ARCHIVE_EXTRA = 1024 * 1024

/** Returns the maximum number of bytes that a browser unpacks, from the package's contents. */
export function unpackedMost(size: number, contents: Contents | null): number {
  if (contents === null) return Math.max(UNPACKED_MAX, RATIO_MAX * size)
  return contents.bytes + contents.files * FILE_EXTRA + ARCHIVE_EXTRA
}

/** Renders the attributes that tell a script where the packages of a crate are. */
export function packageData(site: SiteConfig, name: string, to: Linker): Markup {
  const { base, dl } = site
  // Relative, so that the tree works at any URL.
  const template = dl.startsWith(`${base}/`) ? to(frontPath) + dl.slice(base.length + 1) : dl
  return html` data-checksum="unchecked" data-name="${name}" data-dl="${template}" data-index="${to(indexPath(name as Name))}"`
}

/** Renders the place of the check's result, and an explanation of what the check proves. */
export function checkBox(what: string): Markup {
  return html`<div class="check">
<p role="status" data-state>Not checked. ${what} need JavaScript, which loads the package and checks it.</p>
<div data-ask></div>
<details class="small"><summary>What the check proves</summary>
<p>Your browser computes the SHA-256 of the package and compares it with the one in the index line
of this version, as Cargo does before it builds. So you see the bytes that the index of this host
names, and that Cargo would unpack. The check does not prove who wrote them, nor that the repository
has the same. It cannot notice a host that changes its index and its packages together.</p>
</details>
</div>`
}
