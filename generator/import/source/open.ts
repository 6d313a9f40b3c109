import { refuse } from '../../../core/error/error.ts'
import { openCargoCache } from './cargo-cache.ts'
import { detect } from './detect.ts'
import { openGit } from './git.ts'
import { openLoose } from './loose-crates.ts'
import type { ImportRequest, OpenedSource, Source, SourceKind } from './source.ts'
import { openSparse } from './sparse.ts'
import { openTree } from './tree.ts'
import { openVendor } from './vendor.ts'
import { Web, type WebOptions } from './web.ts'

/** Opens a source of each kind; `index` is the folder of its index below it. */
const OPEN: Record<
  SourceKind,
  (request: ImportRequest, web: Web, index: string) => Promise<OpenedSource>
> = {
  tree: openTree,
  'local-registry': openTree,
  git: openGit,
  sparse: openSparse,
  vendor: openVendor,
  'cargo-cache': (request, _, index) => openCargoCache(request.source, index),
  crates: request => openLoose(request.source),
}

/** Recognizes a source and opens it; refuses what cannot be imported, or needs more options. */
export async function openSource(request: ImportRequest, web: WebOptions = {}): Promise<Source> {
  const { source, as, token, sourceUrl = [] } = request
  const { kind, index } = await detect(source, as)
  if (request.names !== undefined && kind !== 'sparse')
    refuse('import_names_useless', { kind: `\`${kind}\`` })
  const opened = await OPEN[kind](request, new Web(web, token), index)
  return { ...opened, kind, ownUrls: [...new Set([...opened.ownUrls, ...sourceUrl])] }
}
