import { refuse } from '../../../core/error/error.ts'
import { openCargoCache } from './cargo-cache.ts'
import { detect } from './detect.ts'
import { openGit } from './git/git.ts'
import { openLoose } from './loose-crates.ts'
import type { ImportRequest, Source } from './source.ts'
import { openSparse } from './sparse.ts'
import { openTree } from './tree.ts'
import { openVendor } from './vendor.ts'
import { Web, type WebOptions } from './web.ts'

/** Recognizes a source and opens it; refuses what cannot be imported, or needs more options. */
export async function openSource(
  request: ImportRequest,
  web: Omit<WebOptions, 'token'> = {},
): Promise<Source> {
  const detected = await detect(request.source, request.as)
  const { kind } = detected
  if (request.names !== null && kind !== 'sparse')
    refuse('import_names_useless', { kind: `\`${kind}\`` })
  const source = await open(request, detected, new Web({ ...web, token: request.token }))
  return { ...source, ownUrls: [...new Set([...source.ownUrls, ...request.sourceUrls])] }
}

function open(
  request: ImportRequest,
  detected: Awaited<ReturnType<typeof detect>>,
  web: Web,
): Promise<Source> {
  switch (detected.kind) {
    case 'tree':
    case 'local-registry':
      return openTree(request, detected, web)
    case 'git':
      return openGit(request, web)
    case 'sparse':
      return openSparse(request, web)
    case 'vendor':
      return openVendor(request, web)
    case 'cargo-cache':
      return openCargoCache(request.source, detected.index)
    case 'crates':
      return openLoose(request.source)
  }
}
