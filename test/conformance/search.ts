import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import { until } from '../support/until.ts'
import type { Scenario } from './scenario.ts'
import { scenario } from './scenario.ts'

/** `cargo search`. */
export const search: readonly Scenario[] = [
  scenario(
    57,
    'search::multiple_query_params: all words must match, whatever joins them',
    ['api', 'headers'],
    async stage => {
      await stage.publish(
        { name: 'json-parser' },
        { name: 'json-writer' },
        { name: 'toml-reader', package: 'keywords = ["parser", "json"]' },
      )
      const cargo = stage.cargo()
      const options = ['search', '--registry', 'test', '--limit', '5']
      for (const words of [['json', 'parser'], ['json parser']]) {
        let names: string[] = []
        const isFound = async () => {
          const found = await cargo.ok(stage.folder, ...options, ...words)
          names = found.stdout.split('\n').map(line => line.replace(/ .*/, ''))
          return isDeepStrictEqual(names, ['json-parser', 'toml-reader', ''])
        }
        // A busy machine may need more than the half second that a search waits for new crates.
        await until(isFound, () => `“${words}” finds ${names}`)
      }
      assert.deepEqual(stage.registry.requests.lines.slice(-2), [
        'GET /api/v1/crates?q=json%2Bparser&per_page=5 200',
        'GET /api/v1/crates?q=json%20parser&per_page=5 200',
      ])
    },
  ),
]
