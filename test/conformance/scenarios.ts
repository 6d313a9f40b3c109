import { accounts } from './accounts.ts'
import { answers } from './answers.ts'
import { archives } from './archives.ts'
import { choose } from './choose.ts'
import { dependencies } from './dependencies.ts'
import { faults } from './faults.ts'
import { features } from './features.ts'
import { gitIndex } from './git-index.ts'
import { http2 } from './http2.ts'
import { indexLines } from './index-lines.ts'
import { lag } from './lag.ts'
import { missing } from './missing.ts'
import { noApi } from './no-api.ts'
import { privacy } from './privacy.ts'
import { privacyGit } from './privacy-git.ts'
import { publish } from './publish.ts'
import { registries } from './registries.ts'
import { resolve } from './resolve.ts'
import type { Scenario } from './scenario.ts'
import { search } from './search.ts'
import { update } from './update.ts'
import { workspace } from './workspace.ts'
import { yank } from './yank.ts'

/** The suite by the files it is written in. */
export const subjects: Readonly<Record<string, readonly Scenario[]>> = {
  'publish.ts': publish,
  'workspace.ts': workspace,
  'lag.ts': lag,
  'answers.ts': answers,
  'resolve.ts': resolve,
  'faults.ts': faults,
  'http2.ts': http2,
  'index-lines.ts': indexLines,
  'missing.ts': missing,
  'update.ts': update,
  'choose.ts': choose,
  'dependencies.ts': dependencies,
  'registries.ts': registries,
  'features.ts': features,
  'yank.ts': yank,
  'archives.ts': archives,
  'no-api.ts': noApi,
  'git-index.ts': gitIndex,
  'search.ts': search,
  'accounts.ts': accounts,
  'privacy.ts': privacy,
  'privacy-git.ts': privacyGit,
}

/** The suite. */
export const scenarios: readonly Scenario[] = Object.values(subjects).flat()

/**
 * Returns the scenarios of these files: what a way to run the registry has of its own. The rest is
 * the same for all ways; it is played on demand, and by a client that has no other way.
 */
export function chosen(files: readonly (keyof typeof subjects)[], isOnly = false) {
  if (isOnly || process.env.PLIMSOLL_CONFORMANCE === 'full') return scenarios
  return files.flatMap(file => subjects[file] ?? [])
}
