import { accounts } from './accounts.ts'
import { archives } from './archives.ts'
import { choose } from './choose.ts'
import { dependencies } from './dependencies.ts'
import { features } from './features.ts'
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

/** The suite. */
export const scenarios: readonly Scenario[] = [
  ...publish,
  ...workspace,
  ...resolve,
  ...missing,
  ...update,
  ...choose,
  ...names,
  ...dependencies,
  ...registries,
  ...features,
  ...yank,
  ...archives,
  ...noApi,
  ...search,
  ...accounts,
  ...privacy,
]
