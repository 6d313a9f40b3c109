// `npm run check`: types, format, lint, architecture. Changes nothing in the sources.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { checkTypes, prepare, root } from './prepare.mjs'

await prepare(() => false)
checkTypes()
const steps = [
  [
    'format and lint',
    [
      join(root, 'node_modules', '@biomejs', 'biome', 'bin', 'biome'),
      'check',
      '--error-on-warnings',
      '--diagnostic-level=warn',
      '.',
    ],
  ],
  [
    'architecture',
    ['--test', '--test-reporter=dot', join(root, 'dist', 'test', 'architecture.test.js')],
  ],
]
for (const [step, args] of steps) {
  const result = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' })
  if (result.status !== 0) {
    console.error(`check failed at: ${step}`)
    process.exit(result.status ?? 1)
  }
}
