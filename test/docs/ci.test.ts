// Mirrors docs/use/ci.md
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { Cargo } from '../support/cargo.ts'
import { Cleanup } from '../support/cleanup.ts'
import { expectCode } from '../support/command.ts'
import { root } from '../support/plimsoll.ts'
import { plimsollHere, serveHere } from '../support/program.ts'
import { writeProject } from '../support/project.ts'
import { scratch } from '../support/scratch.ts'

const TOKEN = 'CARGO_REGISTRIES_PLIMSOLL_TOKEN'

interface GitHubStep {
  readonly run?: string
  readonly env?: Readonly<Record<string, string>>
}

test('the jobs of docs/use/ci.md publish to a private registry, with the rights that it names', async t => {
  const cleanup = new Cleanup(t)
  const folder = scratch(cleanup)
  const dir = join(folder, 'registry')
  const said = async (...args: readonly string[]) => {
    const ended = await plimsollHere([...args, '--dir', dir])
    return expectCode(args.join(' '), ended, 0).stdout.trim()
  }
  await said('init')
  await said('user', 'add', 'ci')
  const { url } = await serveHere(cleanup, dir, { PLIMSOLL_AUTH_REQUIRED: 'true' })
  const cargoWith = async (...scopes: readonly string[]) => {
    const options = ['read', ...scopes].flatMap(scope => ['--scope', scope])
    const token = await said('token', 'create', '--user', 'ci', ...options)
    return new Cargo(join(folder, scopes.join()), {
      registries: { plimsoll: `sparse+${url}/index/` },
      cratesIo: `sparse+${url}/index/`,
      config: '[registry]\nglobal-credential-providers = ["cargo:token"]\n',
      env: { [TOKEN]: token },
    })
  }
  const written = (version: string) =>
    writeProject(join(folder, version), { name: 'my-crate', version }).folder
  const [byHand, job] = [await cargoWith('publish-new'), await cargoWith('publish-update')]
  await job.fails(written('0.1.0'), 'publish', '--registry', 'plimsoll')
  await byHand.ok(written('0.1.0'), 'publish', '--registry', 'plimsoll')
  for (const [index, command] of publishing().entries()) {
    const [program, ...args] = command.split(' ')
    assert.equal(program, 'cargo')
    await job.ok(written(`0.2.${index}`), ...args)
  }
})

/** Returns the command with which the job of each service publishes; it has the token. */
function publishing(): string[] {
  const text = readFileSync(join(root, 'docs', 'use', 'ci.md'), 'utf8')
  const block = (language: string, name: string) => {
    const block = new RegExp(`^\`\`\`${language}\n([^\`]*?${name}[^\`]*)^\`\`\`$`, 'm').exec(
      text,
    )?.[1]
    assert.ok(block, name)
    return block
  }
  const steps: readonly GitHubStep[] = parse(block('yaml', 'workflows')).jobs.publish.steps
  const withToken = steps.filter(({ env }) => env?.[TOKEN] !== undefined)
  const script = parse(block('yaml', 'gitlab-ci')).publish.script.at(-1)
  const pipeline = block('groovy', 'pipeline')
  assert.match(pipeline, new RegExp(`${TOKEN} = credentials`))
  const commands = [withToken[0]?.run, script, /sh '(.*)'/.exec(pipeline)?.[1]]
  assert.ok(commands.every(command => /^cargo publish/.test(command)))
  return commands
}
