import { readFile } from 'node:fs/promises'
import { collect, type Issue, issue, Refusal, refuse } from '../../../core/error/error.ts'
import { lowerPrefix, type Name, parseName } from '../../../core/name.ts'
import { ordered } from '../ordered.ts'
import { CONFIG_MAX, parseConfig } from './config.ts'
import { cratesOfConfig, namedCrates } from './crate-sources.ts'
import { INDEX_FILE_MAX, readIndexFile } from './index-file.ts'
import type { CrateSource, ImportRequest, Refused, Source, SourceCrate } from './source.ts'
import { plain, type Web } from './web.ts'

/** Index files that are fetched at once. */
const AT_ONCE = 8

/** A sparse index on the web, of which the operator names the crates. */
export async function openSparse(request: ImportRequest, web: Web): Promise<Source> {
  const { source, names } = request
  const url = source.replace(/^sparse\+/i, '')
  const base = url.endsWith('/') ? url : `${url}/`
  web.trust(base)
  if (names === null) return refuse('import_names_needed', { source: plain(source) })
  const wanted = parseNames(await readFile(names, 'utf8'), names)
  const text = await web.read(`${base}config.json`, CONFIG_MAX)
  const config = text && parseConfig(text.toString('utf8'), `${plain(base)}config.json`)
  const crateSource = namedCrates(request, web) ?? cratesOfConfig(config, plain(base), web)
  return {
    kind: 'sparse',
    description: `the sparse index ${plain(base)}; .crate files from ${crateSource.description}`,
    ownUrls: [`sparse+${base}`],
    total: wanted.names.length,
    async *crates() {
      if (wanted.refused.length > 0) yield { name: null, versions: [], refused: wanted.refused }
      yield* ordered(wanted.names, AT_ONCE, name => fetchCrate(web, base, name, crateSource))
    },
    close: async () => undefined,
  }
}

async function fetchCrate(
  web: Web,
  base: string,
  name: Name,
  crateSource: CrateSource,
): Promise<SourceCrate> {
  const url = `${base}${lowerPrefix(name)}/${name.toLowerCase()}`
  try {
    const bytes = await web.read(url, INDEX_FILE_MAX)
    if (!bytes) refuse('import_name_unknown', { name })
    return readIndexFile({ where: plain(url), stem: name, bytes }, crateSource)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return {
      name: null,
      versions: [],
      refused: [{ where: plain(url), name, reasons: error.issues }],
    }
  }
}

/** One name a line; blank lines and `#` comments mean nothing. */
function parseNames(text: string, file: string): { names: Name[]; refused: Refused[] } {
  const names = new Map<string, Name>()
  const refused: Refused[] = []
  for (const [at, line] of text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .entries()) {
    const name = line.replace(/#.*$/, '').trim()
    if (name === '') continue
    const issues: Issue[] = []
    const parsed = collect(issues, () => parseName(name))
    if (parsed) names.set(parsed.toLowerCase(), parsed)
    else
      refused.push({
        where: file,
        reasons: issues.map(one => issue('index_line', { line: at + 1, reason: one.message })),
      })
  }
  return { names: [...names.values()], refused }
}
