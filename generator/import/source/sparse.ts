import { ordered } from '../../../core/async/ordered.ts'
import {
  collect,
  type Issue,
  issue,
  Refusal,
  refusalOnly,
  refuse,
} from '../../../core/error/error.ts'
import { lowerPrefix, type Name, parseName } from '../../../core/name.ts'
import { CONFIG_MAX, parseDl } from '../../../core/urls/index-config.ts'
import { readText } from '../../places/disk/files.ts'
import type { Web } from '../../web/web.ts'
import { plain } from '../../web/web-url.ts'
import { cratesOfDl, namedCrates } from './crate-sources.ts'
import { INDEX_FILE_MAX, readIndexFile } from './index-file.ts'
import {
  type ImportRequest,
  type OpenedSource,
  type RefusedPart,
  refusedCrate,
  refusedPart,
  type SourceCrate,
} from './source.ts'

const AT_ONCE = 8

/** Opens a sparse index on the web; the operator lists the crates. */
export async function openSparse(request: ImportRequest, web: Web): Promise<OpenedSource> {
  const { source, names } = request
  const url = source.replace(/^sparse\+/i, '')
  const base = url.endsWith('/') ? url : `${url}/`
  web.trust(base)
  if (names === undefined) return refuse('import_names_needed', { source: plain(source) })
  const listed = (await readText(names)) ?? refuse('file_missing', { path: names })
  const wanted = parseNames(listed, names)
  const text = await web.read(`${base}config.json`, CONFIG_MAX)
  const dl = text && parseDl(text.toString('utf8'), `${plain(base)}config.json`)
  const crates = namedCrates(request, web) ?? cratesOfDl(dl, plain(base), web)
  const fetchCrate = async (name: Name): Promise<SourceCrate> => {
    const url = `${base}${lowerPrefix(name)}/${name.toLowerCase()}`
    const where = plain(url)
    const bytes = await web.read(url, INDEX_FILE_MAX).catch(refusalOnly)
    if (bytes instanceof Refusal) return refusedCrate(where, bytes.issues, { name })
    if (bytes) return readIndexFile({ where, stem: name, bytes }, crates)
    return refusedCrate(where, [issue('import_name_unknown', { name })], { name })
  }
  return {
    description: `the sparse index ${plain(base)}; .crate files from ${crates.description}`,
    ownUrls: [`sparse+${base}`],
    total: wanted.names.length,
    async *crates() {
      if (wanted.refused.length > 0) yield { name: null, versions: [], refused: wanted.refused }
      yield* ordered(wanted.names, AT_ONCE, fetchCrate)
    },
  }
}

function parseNames(text: string, file: string): { names: Name[]; refused: RefusedPart[] } {
  const names = new Map<string, Name>()
  const refused: RefusedPart[] = []
  const lines = text.replace(/^\uFEFF/, '').split('\n')
  for (const [at, line] of lines.entries()) {
    const name = line.replace(/#.*$/, '').trim()
    if (name === '') continue
    const issues: Issue[] = []
    const parsed = collect(issues, () => parseName(name))
    if (parsed) names.set(parsed.toLowerCase(), parsed)
    const reasons = issues.map(({ message: reason }) =>
      issue('index_line', { line: at + 1, reason }),
    )
    if (reasons.length > 0) refused.push(refusedPart(file, reasons))
  }
  return { names: [...names.values()], refused }
}
