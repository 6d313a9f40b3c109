import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Command } from 'commander'
import { createProgram } from '../../daemon/program.ts'
import { exitCodes, manualOf } from '../../generator/cli/console/command.ts'
import { terminalIo } from '../../generator/cli/console/terminal.ts'
import { openRegistry } from '../../generator/open.ts'
import { filesBelow } from '../support/folder.ts'
import { root } from '../support/plimsoll.ts'

const FILE = join(root, 'docs', 'use', 'commands.md')

/** What stands in docs/use/commands.md above the first command. */
const INTRODUCTION = `# Commands

\`plimsoll COMMAND --help\` prints what is here. This page is rendered from the declarations of the
commands; \`UPDATE_GOLDEN=1 npm test -- docs/command-reference\` renders it again.

Every command takes these options; \`completion\` and \`check\` need no registry, and no setting:

| option | meaning |
|---|---|
| \`--dir <dir>\` | the registry folder; default: \`PLIMSOLL_DIR\`, else \`./registry\` |
| \`--set <key=value>\` | override a [setting](../run/settings.md); can be repeated |
| \`-h, --help\` | print the help of the command |

Results are printed to stdout; warnings, errors and progress to stderr. On a terminal progress is
one line that changes, elsewhere a line every ten seconds. Errors and warnings are colored on a
terminal unless \`NO_COLOR\` is set, elsewhere only with \`FORCE_COLOR\`. With \`--json\`, stdout has one JSON text
and nothing else. New fields may be added to it; none changes its meaning. A command that fails
before it has a result prints no JSON, only its errors on stderr.

| exit code | meaning |
|---|---|
| 0 | success |
| 1 | the operation was refused or failed; each command says what that means |
| 2 | wrong usage or settings; nothing was changed |
`

/** Options that the introduction describes. */
const COMMON = new Set(['--dir', '--set', '--help'])

/** Commands without a result: one prints a script, the other runs until it is stopped. */
const WITHOUT_JSON = ['plimsoll completion', 'plimsoll serve']

test('docs/use/commands.md describes every command as it is declared, with an example', async () => {
  const io = terminalIo({ stdout: process.stdout, stderr: process.stderr, env: {} })
  const never = () => new Promise<string>(() => undefined)
  const program = await createProgram(io, [], {
    openRegistry,
    readInput: never,
    askSecret: null,
    stopped: never,
    isRead: () => true,
  })
  const sections = program
    .createHelp()
    .visibleCommands(program)
    .filter(command => command.name() !== 'help')
    .flatMap(command => chapters(command, `plimsoll`))
  const text = [INTRODUCTION, ...sections].join('\n')
  if (process.env.UPDATE_GOLDEN !== undefined) writeFileSync(FILE, text)
  assert.equal(readFileSync(FILE, 'utf8'), text)
})

/** Returns the chapter of a command, or those of the commands in a group. */
function chapters(command: Command, above: string): string[] {
  const name = `${above} ${command.name()}`
  if (command.commands.length > 0)
    return command.commands.flatMap(command => chapters(command, name))
  const manual = manualOf(command)
  assert.ok(manual && Object.keys(manual.examples).length > 0, `${name} has no example`)
  assert.equal(manual.json === undefined, WITHOUT_JSON.includes(name), `${name}: --json`)
  const rows = [
    ...command.registeredArguments.map(argument => {
      assert.notEqual(argument.description, '', `${name}: what is ${argument.name()}?`)
      return [`<${argument.name()}>`, argument.description]
    }),
    ...command.options
      .filter(({ long }) => !COMMON.has(long ?? ''))
      .map(({ flags, description, defaultValue, argChoices, negate }) => {
        const choices = argChoices ? `; one of ${argChoices.join(', ')}` : ''
        const isShown = defaultValue !== undefined && !negate
        return [flags, `${description}${choices}${isShown ? `; default: \`${defaultValue}\`` : ''}`]
      }),
  ]
  const table = rows.map(([what = '', meaning = '']) => `| \`${what}\` | ${cell(meaning)} |`)
  const [, fails = ''] = exitCodes(manual)[1] ?? []
  return [
    [
      `## ${name}\n`,
      `${sentence(command.description())}\n`,
      `\`${name} ${command.usage()}\`\n`,
      ...(table.length > 0 ? ['| argument or option | meaning |', '|---|---|', ...table, ''] : []),
      '```sh',
      ...Object.entries(manual.examples).map(([line, meaning]) => `# ${meaning}\n${line}`),
      '```\n',
      ...(manual.json === undefined ? [] : [`\`--json\` prints ${manual.json}.\n`]),
      `Exit code 1: ${fails}.\n`,
    ].join('\n'),
  ]
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replace(/<(\w)/g, '\\<$1')
}

test('every command that a message, a finding or a document names exists, with its options', () => {
  const [common = '', ...commands] = readFileSync(FILE, 'utf8').split(/^## plimsoll /m)
  const sources = ['core', 'generator', 'daemon', 'site', 'docs/run'].flatMap(part =>
    filesBelow(join(root, part)).map(path => join(root, part, path)),
  )
  const wrong: string[] = []
  let named = 0
  for (const path of sources.filter(path => /\.(?:ts|md)$/.test(path)))
    for (const [text] of readFileSync(path, 'utf8').matchAll(/(?<!\()`plimsoll [a-z][^`\\]*/g)) {
      const words = text.slice('`plimsoll '.length).replace(/\s+/g, ' ')
      const its = commands.filter(each => {
        const name = each.split('\n', 1)[0] ?? ''
        return `${words} `.startsWith(`${name} `) || name.startsWith(words.replace(/ \$\{.*/, ''))
      })
      const options = [...words.matchAll(/--[a-z-]+/g)].map(([option]) => option)
      const isRight = its.some(each => options.every(option => `${common}${each}`.includes(option)))
      if (!isRight) wrong.push(`${path}: ${text}`)
      named++
    }
  assert.deepEqual(wrong, [])
  assert.ok(named > 100)
})
