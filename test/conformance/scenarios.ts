import { archives } from './archives.ts'
import { dependencies } from './dependencies.ts'
import { features } from './features.ts'
import { names } from './names.ts'
import { noApi } from './no-api.ts'
import { publish } from './publish.ts'
import { resolve } from './resolve.ts'
import type { Scenario } from './scenario.ts'
import { workspace } from './workspace.ts'
import { yank } from './yank.ts'

/** The suite. */
export const scenarios: readonly Scenario[] = [
  ...publish,
  ...workspace,
  ...resolve,
  ...names,
  ...dependencies,
  ...features,
  ...yank,
  ...archives,
  ...noApi,
]
