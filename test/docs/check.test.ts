import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { topics } from '../../check/rows/all.ts'
import type { Statement } from '../../check/table.ts'
import { none } from '../support/none.ts'
import { root } from '../support/plimsoll.ts'

const FILE = join(root, 'docs', 'use', 'check.md')

/** What stands in docs/use/check.md above the statements. */
const INTRODUCTION = `# What \`plimsoll check\` asks a registry

\`\`\`sh
plimsoll check sparse+https://crates.example.com/index/
\`\`\`

asks any Cargo registry, this one or another, about each statement below, and prints which hold,
which fail and what was seen, and which could not be tried. It needs no registry folder. It takes
the URL of a sparse index, the URL or folder of a git index, or the folder of a static tree, whose
\`.crate\` files are read from the folder.

Without \`--write\` it only reads: the crates that \`--crate\` names, or those that a search or a
listing finds.
With \`--write\` and a token it publishes about 20 small crates under a prefix, with another name each
time, and yanks them at the end; crates cannot be taken away, so they stay there. \`--cargo\` has a
real Cargo try, and its own error stands beside the statement that fails. \`--junit\` and \`--badge\`
write files for CI. The exit code is 1 if a statement fails that breaks builds or publishing, or if
none holds. If one cause blocks several statements, such as a server that does not answer, only the
first fails; the rest are untried.

A registry that asks for patience by 429 and \`Retry-After\` gets it. A token is sent as Cargo does
it: to the web API, and to the index and the downloads of a private registry alone.

[check-results.md](check-results.md) has what it found of other registries.

This page is rendered from the statements: \`UPDATE_GOLDEN=1 npm test -- docs/check\`. The suites of
Plimsoll play them against every way to run it ([conformance.md](../work/conformance.md)), and each was seen
to fail against a registry that is wrong in just that way.

| weight | meaning |
|---|---|
| breaks builds | a build fails, or takes other code than it should |
| breaks publishing | a publish, yank or change of owners fails or has no effect |
| differs | it is not what Cargo's book says, and some clients notice |
| could be better | it works, and costs time or traffic |
`

test('docs/use/check.md lists every statement as it is declared', () => {
  const head = '| statement | what holds | weight | since | source |\n|---|---|---|---|---|\n'
  const chapters = Object.entries(topics).map(
    ([subject, statements]) => `\n## ${subject}\n\n${head}${statements.map(rowOf).join('')}`,
  )
  const text = [INTRODUCTION, ...chapters].join('')
  if (process.env.UPDATE_GOLDEN !== undefined) writeFileSync(FILE, text)
  assert.equal(readFileSync(FILE, 'utf8'), text)
})

test('docs/use/check-results.md speaks of statements that there are', () => {
  const ids = Object.values(topics).flatMap(rows => rows.map(({ id }) => id))
  const text = readFileSync(join(root, 'docs', 'use', 'check-results.md'), 'utf8')
  const rows = text.split('\n').filter(line => line.startsWith('| `'))
  const named = rows.flatMap(row => [...(row.split(' | ')[0] ?? '').matchAll(/`([a-z0-9-]+)`/g)])
  assert.ok(named.length > 0)
  none(named.map(([, id]) => id).filter(id => !ids.includes(id ?? '')))
})

test('statements have ids of their own and public sources', () => {
  const all = Object.values(topics).flat()
  assert.ok(all.length >= 150)
  assert.equal(new Set(all.map(({ id }) => id)).size, all.length)
  const form =
    /^https:\/\/(?:doc\.rust-lang\.org\/cargo|github\.com\/rust-lang\/cargo|rust-lang\.github\.io)\//
  none(all.filter(({ source }) => !form.test(source)))
})

function rowOf({ id, sentence, weight, since, source }: Statement): string {
  const [, name = source] = /([^/]+)$/.exec(source) ?? []
  const label = name.replaceAll(/\.html/g, '')
  const cells = [`\`${id}\``, sentence.replaceAll('|', '\\|'), weight, since ?? '–']
  return `| ${cells.join(' | ')} | [${label}](${source}) |\n`
}
