import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Answer } from '../support/raw-publish.ts'
import { refusal, send } from '../support/raw-publish.ts'
import { indexLine, withoutTimes } from './index-line.ts'
import type { Scenario } from './scenario.ts'
import { says, scenario } from './scenario.ts'

const PUBLISH = ['publish', '--no-verify', '--allow-dirty', '--registry', 'test']
const _NEW = '/api/v1/crates/new'

/**
 * Answers that Cargo could make nothing of but a dump: ours is never one, and none leaves anything
 * half done.
 */
export const answers: readonly Scenario[] = [
  scenario(
    16,
    'publish::api_error_code: a failure inside is JSON with an id that the log has, too',
    ['api', 'sparse', 'folder'],
    async stage => {
      const foo = stage.crate({ name: 'foo' })
      const obstacle = join(stage.api.folder, 'crates')
      rmSync(obstacle, { recursive: true, force: true })
      writeFileSync(obstacle, 'where the crate store has to be')
      const failed = await stage.cargo().fails(foo.folder, ...PUBLISH)
      says(
        failed,
        /the remote server responded with an error \(status 500 Internal Server Error\): .+/,
      )
      const id = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(failed.stderr)?.[0]
      assert.ok(id, failed.stderr)
      assert.ok(stage.api.log().includes(id))
      assert.equal((await send('GET', stage.registry, '/index/3/f/foo')).status, 404)
      rmSync(obstacle)
      await stage.cargo().ok(foo.folder, ...PUBLISH)
      assert.equal(withoutTimes(await stage.index('3/f/foo')), await indexLine(stage, foo))
    },
  ),

  scenario(
    16,
    'publish::api_curl_error: a publish whose answer is lost has happened once, and can be repeated',
    ['api', 'sparse', 'faults'],
    async stage => {
      const foo = stage.crate({ name: 'foo' })
      for (const isPassedOn of [false, true]) {
        stage.interfere(({ method }) =>
          method === 'PUT' ? { meets: 'silence', isPassedOn } : undefined,
        )
        says(
          await stage.cargo().fails(foo.folder, ...PUBLISH),
          /Server returned nothing|curl|connection/i,
        )
        stage.interfere()
        const { status } = await send('GET', stage.registry, '/index/3/f/foo')
        assert.equal(status, isPassedOn ? 200 : 404)
      }
      assert.equal(withoutTimes(await stage.index('3/f/foo')), await indexLine(stage, foo))
      assert.equal(
        await stage.registry.offer('foo', '1.0.0', await stage.download('foo', '1.0.0')),
        null,
      )
      says(await stage.cargo().fails(foo.folder, ...PUBLISH), /foo.*1\.0\.0 already exists/)
      assert.equal(withoutTimes(await stage.index('3/f/foo')), await indexLine(stage, foo))
    },
  ),

  scenario(
    16,
    'publish::api_error_code: a plain 400 by something in between is shown as it is, and nothing was published',
    ['api', 'sparse', 'faults'],
    async stage => {
      const foo = stage.crate({ name: 'foo' })
      stage.interfere(({ method }) =>
        method === 'PUT' ? { meets: 'answer', status: 400, body: 'go away' } : undefined,
      )
      const refused = await stage.cargo().fails(foo.folder, ...PUBLISH)
      says(refused, /failed to get a 200 OK response, got 400/)
      says(refused, 'go away')
      stage.interfere()
      assert.equal((await send('GET', stage.registry, '/index/3/f/foo')).status, 404)
      await stage.cargo().ok(foo.folder, ...PUBLISH)
    },
  ),

  scenario(
    18,
    'publish::invalid_token: cargo sends no token that is none; the registry takes any for a wrong one',
    ['api', 'sparse'],
    async stage => {
      const foo = stage.crate({ name: 'foo' })
      const refused = await stage.cargo({ token: '\x16' }).fails(foo.folder, ...PUBLISH)
      says(refused, 'token contains invalid characters')
      const sent = stage.registry.requests.lines.filter(line => line.includes('/api/'))
      assert.deepEqual(sent, [])
      for (const authorization of [
        '',
        'a\tb',
        'Bearer',
        'Bearer  ',
        'Basic ???',
        'Basic Og==',
        'é',
        'x'.repeat(8000),
      ]) {
        const answer = await send('GET', stage.registry, '/api/v1/crates/foo/owners', {
          authorization,
        })
        assert.equal(answer.status, 403, authorization)
        expectReasons(authorization, answer)
      }
    },
  ),
]

/** The shape in which Cargo shows reasons instead of dumping the answer. */
function expectReasons(what: string, answer: Answer): void {
  assert.match(String(answer.headers['content-type']), /^application\/json/, what)
  assert.match(refusal(answer) ?? '', /^\S.{10,}/s, what)
}
