// check/rows: What `check` asks, a row each. Only check/ calls it; no row repairs anything.
import type { Statement } from '../table.ts'
import { cargoRows } from './cargo.ts'
import { configRows } from './config.ts'
import { downloadRows } from './download.ts'
import { fileRows } from './file.ts'
import { gitRows, httpRows } from './http.ts'
import { dependencyRows, lineRows } from './line.ts'
import { privacyRows } from './privacy.ts'
import { publishRows } from './publish.ts'
import { refusalRows } from './refusal.ts'
import { searchRows } from './search.ts'
import { yankRows } from './yank.ts'

export const topics: Readonly<Record<string, readonly Statement[]>> = Object.fromEntries(
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
  }).map(([topic, tables]) => [topic, tables.flatMap(({ rows }) => rows)]),
)
