import assert from 'node:assert/strict'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { Cleanup } from '../../support/cleanup.ts'
import { run } from '../../support/command.ts'
import { root } from '../../support/plimsoll.ts'
import { plimsollHere } from '../../support/program.ts'
import { scratch } from '../../support/scratch.ts'

const cleanup = new Cleanup({ after })
let folder: string

/** A folder with a registry that has one crate, and the script of each shell. */
before(async () => {
  folder = scratch(cleanup)
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  symlinkSync(join(root, 'dist', 'program', 'cli.js'), join(bin, 'plimsoll'))
  for (const version of ['1.0.0', '1.1.0'])
    mkdirSync(join(folder, 'registry', 'public', 'crates', 'demo-crate', version), {
      recursive: true,
    })
  writeFileSync(join(folder, 'access log'), '')
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, stdout } = await plimsollHere(['completion', shell], {}, { cwd: folder })
    assert.equal(code, 0)
    writeFileSync(join(folder, `script.${shell}`), stdout)
  }
})

/** What a shell says; null where it is not installed. */
async function shell(name: string, args: readonly string[]): Promise<string | null> {
  try {
    const { code, stdout, stderr } = await run(name, args, {
      cwd: folder,
      env: { ...process.env, PATH: `${join(folder, 'bin')}:${process.env.PATH}` },
    })
    assert.deepEqual([code, stderr], [0, ''])
    return stdout
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return null
  }
}

const LINES: readonly (readonly [line: string, words: readonly string[]])[] = [
  ['plimsoll comp', ['completion']],
  ['plimsoll user pas', ['password']],
  ['plimsoll user add --adm', ['--admin']],
  ['plimsoll verify --rep', ['--repair']],
  ['plimsoll yank de', ['demo-crate']],
  ['plimsoll delete --yes demo-crate@1.1', ['demo-crate@1.1.0']],
  ['plimsoll delete --dir nowhere de', []],
  ['plimsoll import --as loc', ['local-registry']],
  ['plimsoll downloads import acc', ['access log']],
  ['plimsoll push --to reg', ['registry']],
  ['plimsoll downloads import --format cloudfr', ['cloudfront']],
  ['plimsoll serve --set downloads.c', ['downloads.count=']],
  ['plimsoll completion f', ['fish']],
  ['plimsoll user add --dir x ali', []],
  ['plimsoll yank ../../etc@', []],
  ['plimsoll complete', []],
]

test('bash completes commands, options, values, settings, files and crates', async () => {
  const asks = LINES.map(([line]) => {
    return `COMP_LINE='${line}'; COMP_POINT=\${#COMP_LINE}; COMPREPLY=(); COMP_WORDBREAKS=' '
_plimsoll; printf '%s;' "\${COMPREPLY[@]}"; echo`
  })
  const script = `source ./script.bash\n${asks.join('\n')}`
  const answer = await shell('bash', ['-c', script])
  const words = LINES.map(([, words]) => `${words.join(';')};`)
  assert.deepEqual(answer?.trimEnd().split('\n'), words)
})

test('bash replaces only what it takes for the last word', async () => {
  const script = `source ./script.bash; COMP_WORDBREAKS=' @='
COMP_LINE='plimsoll yank demo-crate@1.1'; COMP_POINT=\${#COMP_LINE}; _plimsoll; echo "\${COMPREPLY[@]}"`
  assert.equal(await shell('bash', ['-c', script]), '1.1.0\n')
})

test('fish completes the same', async () => {
  const asks = LINES.map(([line]) => `echo (complete -C '${line}' | string split -f 1 \\t);`)
  const answer = await shell('fish', ['-c', `source ./script.fish\n${asks.join('\n')}`])
  const words = LINES.map(([, words]) => words.join(' '))
  if (answer !== null) assert.deepEqual(answer.split('\n').slice(0, -1), words)
})

test('zsh understands its script', async () => {
  await shell('zsh', ['-n', './script.zsh'])
})

test('another shell is refused', async () => {
  const { code, stderr } = await plimsollHere(['completion', 'tcsh'], {}, { cwd: folder })
  assert.equal(code, 2)
  assert.match(stderr, /bash, zsh, fish/)
})
