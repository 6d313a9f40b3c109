import { accounts } from './accounts.ts'
import { archives } from './archives.ts'
import { choose } from './choose.ts'
import { dependencies } from './dependencies.ts'
import { features } from './features.ts'
import { gitIndex } from './git-index.ts'
import { missing } from './missing.ts'
import { names } from './names.ts'
import { noApi } from './no-api.ts'
import { privacy } from './privacy.ts'
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
  'resolve.ts': resolve,
  'missing.ts': missing,
  'update.ts': update,
  'choose.ts': choose,
  'names.ts': names,
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
}

/** The suite. */
export const scenarios: readonly Scenario[] = Object.values(subjects).flat()
