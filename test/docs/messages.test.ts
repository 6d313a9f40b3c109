// Mirrors docs/use/messages.md
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { type Code, message, type Params } from '../../core/error/catalog.ts'
import { accountMessages } from '../../core/error/messages/accounts.ts'
import { advisoryMessages } from '../../core/error/messages/advisory.ts'
import { commandMessages } from '../../core/error/messages/commands.ts'
import { crateMessages } from '../../core/error/messages/crate.ts'
import { gitMessages } from '../../core/error/messages/git.ts'
import { importMessages } from '../../core/error/messages/import.ts'
import type { Kind, MessageTable } from '../../core/error/messages/kind.ts'
import { policyMessages } from '../../core/error/messages/policy.ts'
import { registryMessages } from '../../core/error/messages/registry.ts'
import { storageMessages } from '../../core/error/messages/storage.ts'
import { trustMessages } from '../../core/error/messages/trust.ts'
import { webhookMessages } from '../../core/error/messages/webhook.ts'
import { root } from '../support/plimsoll.ts'

const FILE = join(root, 'docs', 'use', 'messages.md')

const chapters: readonly (readonly [title: string, table: MessageTable])[] = [
  ['Publishing: the rules of the registry', policyMessages],
  ['Publishing: what is in the package', crateMessages],
  ['Publishing, reading and rights', registryMessages],
  ['Accounts, tokens and owners', accountMessages],
  ['Commands, settings and the daemon', commandMessages],
  ['Imports', importMessages],
  ['The git index', gitMessages],
  ['Object storage and CDN', storageMessages],
  ['Webhooks, reasons and deprecations', webhookMessages],
  ['Publishing from CI', trustMessages],
  ['Advisories', advisoryMessages],
]

/** What each kind of message asks for, if the message itself says nothing. */
const kinds: Readonly<Record<Kind, readonly [meaning: string, advice: string]>> = {
  invalid: ['something in the request is not as it must be', 'correct it and try again'],
  misuse: ['a command or a setting is wrong', 'correct it; nothing was changed'],
  denied: ['the header `Authorization` is missing or cannot be read', 'send a token in it'],
  unsupported: ['the body has another type', 'send it as the type that the message names'],
  unprocessable: ['the JSON has another shape', 'send the members that the API documents'],
  unauthorized: ['the token does not permit this', 'use another token, or ask its maker'],
  forbidden: ['you may not do this', 'ask an owner or an administrator'],
  not_found: ['it is not here', 'check the spelling and the address of the registry'],
  conflict: ['something that exists is in the way', 'choose another name or version'],
  incomplete: ['the request broke off', 'send it again'],
  timeout: ['the request took too long', 'send it again over a faster connection'],
  too_large: ['the request is too large', 'send less, or ask the operator for a higher limit'],
  too_many: ['a limit of requests is reached', 'wait, then try again'],
  busy: ['something is in use or away for the moment', 'try again later'],
  full: ['the disk is full', 'the operator makes room'],
  failed: ['something failed that nobody asked for', 'the operator looks at the log'],
}

/** Values for the messages whose wording depends on them. */
const examples: { readonly [C in Code]?: Params<C>[0] } = {
  rate_limited: { what: 'publishes', seconds: 20 },
  crates_too_many: { login: 'alice', max: 20 },
  setting_unknown: {
    where: 'plimsoll.toml',
    key: 'log.levl',
    suggestion: 'log.level',
    accepted: ['log.level', '…'],
  },
  upstream_unknown: { name: 'other', upstreams: ['crates-io'] },
  export_missing: { missing: [{ name: 'demo', version: '1.0.0', source: 'crates.io' }] },
  upgrade_needed: { file: 'plimsoll.db', from: 'A', to: 'B', version: '1.2.0', daemons: [] },
  release_deleted: { name: 'demo', version: '1.0.0', reason: '{reason}' },
  version_deleted: { name: 'demo', version: '1.0.0', reason: '{reason}' },
  page_failed: { kind: 'pages', of: 'demo', reason: '{reason}' },
  name_too_long: { name: 'demo', max: 64 },
  archive_warnings_more: { count: 12 },
  import_yanked_there: { name: 'demo', version: '1.0.0', there: true },
  name_looks_alike: { name: 'tokoi', others: ['tokio'] },
  issues_more: { count: 12 },
  rule_differs: {
    noun: 'repository',
    name: 'acme/demo',
    claim: 'workflow',
    was: ['test.yml'],
    wanted: ['release.yml'],
    rule: 1,
    kind: 'github',
  },
  trusted_only: { name: 'demo', pattern: 'demo' },
  rules_too_many: { max: 20, kind: 'github' },
  dependency_yanked: { name: 'demo', req: '^1', reason: '{reason}' },
  dependency_deprecated: { name: 'demo', reason: '{reason}', use: 'other' },
  version_taken: { name: 'demo', version: '1.0.0', existing: '1.0.0' },
}

test('docs/use/messages.md has every message of the catalog', () => {
  const tables = readdirSync(join(root, 'core', 'error', 'messages'))
  assert.equal(tables.filter(name => name !== 'kind.ts').length, chapters.length)
  const text = [
    `# Messages

What the registry and \`plimsoll\` say, by code. Cargo shows the sentence alone, so search this page
for its words; \`plimsoll_failures_total\` in \`/metrics\` counts by code. \`{…}\` stands for a value.
What to do is **bold**; where a message does not say it, its kind does. This page is rendered from
the catalog of messages: \`UPDATE_GOLDEN=1 npm test -- docs/messages\` renders it again.

| kind | meaning | what to do |
|---|---|---|
`,
    ...Object.entries(kinds).map(([kind, cells]) => `| ${[kind, ...cells].join(' | ')} |\n`),
    ...chapters.flatMap(([title, table]) => [`\n## ${title}\n`, ...sections(table)]),
  ].join('')
  if (process.env.UPDATE_GOLDEN !== undefined) writeFileSync(FILE, text)
  assert.equal(readFileSync(FILE, 'utf8'), text)
})

function sections(table: MessageTable): string[] {
  return Object.entries(table).flatMap(([kind, messages]) => [
    `\nKind: ${kind}\n\n`,
    ...Object.entries(messages).map(([code, wording]) => {
      const text =
        typeof wording === 'string'
          ? wording.replace(/\{(\w+):\w+\}/g, '{$1}')
          : exampleOf(code as Code)
      return `- \`${code}\`: ${marked(escaped(text.replace(/:?\n.*/s, '')))}\n`
    }),
  ])
}

function exampleOf(code: Code): string {
  const isConstant = code === 'owners_none_named'
  assert.ok(isConstant || examples[code], `${code} needs an example`)
  return message(code, [examples[code]] as never)
}

/** Makes the advice bold: what follows the first semicolon, unless it says that all is as before. */
function marked(text: string): string {
  const [, fact, advice] = /^(.*?; )(.*)$/.exec(text) ?? []
  if (fact === undefined || advice === undefined) return text
  const [, calm = '', rest = advice] =
    /^(nothing (?:was|has) changed(?:, (?:and )?|; |$))(.*)$/.exec(advice) ?? []
  return rest === '' ? text : `${fact}${calm}**${rest}**`
}

/** Text outside of code, in which Markdown finds nothing. */
function escaped(text: string): string {
  return text.replace(/(`[^`]*`)|[*<]/g, (match, code) => code ?? `\\${match}`)
}
