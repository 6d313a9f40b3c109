import type { Statement } from '../statement.ts'
import { cargoRows } from './cargo.ts'
import { configRows } from './config.ts'
import { dependencyRows } from './dependency.ts'
import { downloadRows } from './download.ts'
import { fileRows } from './file.ts'
import { gitRows } from './git.ts'
import { httpRows } from './http.ts'
import { lineRows } from './line.ts'
import { privacyRows } from './privacy.ts'
import { publishRows } from './publish.ts'
import { refusalRows } from './refusal.ts'
import { searchRows } from './search.ts'
import { yankRows } from './yank.ts'

/** Rows that say nearly what another says, or have little effect. */
const dropped = new Set(
  `config-json config-dl config-api config-keys config-bom config-small config-fresh file-lines
  file-bom file-utf8 file-newline missing-small line-names-agree line-feature-names line-
  reachable line-v-known line-known line-name-length dep-default-features dep-artifact dep-
  bindep-target dep-lib dep-public dep-found http-unconditional http-age http-cookies
  http-304-etag http-type git-service download-same download-type download-length download-
  missing-404 crate-links private-config private-login-url private-login-page private-index-
  bad search-names search-descriptions search-default search-hundred search-nothing search-
  unknown search-limit search-case search-type api-route publish-more publish-etag publish-
  cksum publish-yanked publish-weak refuse-empty refuse-name-empty refuse-hardlink refuse-
  absolute refuse-dep-registry refuse-dep-req refuse-value yank-crate yank-download unyank-
  same owners-logins owners-nowhere search-published cargo-update cargo-info`.split(/\s+/),
)

/** All statements, by subject, in the order of reports. */
export const subjects: Readonly<Record<string, readonly Statement[]>> = Object.fromEntries(
  Object.entries({
    'config.json': configRows,
    'Index files': fileRows,
    'Lines of the index': lineRows,
    Dependencies: dependencyRows,
    'HTTP and caches': httpRows,
    'Git index': gitRows,
    Downloads: downloadRows,
    'Private registries': privacyRows,
    'Search and web API': searchRows,
    Publishing: publishRows,
    Refusals: refusalRows,
    'Yanks and owners': yankRows,
    Cargo: cargoRows,
  }).map(([subject, tables]) => [
    subject,
    tables.flatMap(({ rows }) => rows.filter(({ id }) => !dropped.has(id))),
  ]),
)
