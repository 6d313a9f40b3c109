import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Answer } from '../support/raw-publish.ts'
import { refusal, send } from '../support/raw-publish.ts'
import { u32 } from '../support/release.ts'
import { indexLine, withoutTimes } from './index-line.ts'
import type { Scenario } from './scenario.ts'
import { says, scenario } from './scenario.ts'

const PUBLISH = ['publish', '--no-verify', '--allow-dirty', '--registry', 'test']
const NEW = '/api/v1/crates/new'

/**
 * Answers that Cargo could make nothing of but a dump: ours is never one, and none leaves anything
 * half done.
 */
export const answers: readonly Scenario[] = [
  scenario(
    16,
    'publish::api_other_error: whatever is wrong with a request, the answer is JSON with its reasons',
    ['api', 'sparse'],
    async stage => {
      await stage.publish({ name: 'foo' })
      const before = await stage.index('3/f/foo')
      for (const [what, status, method, path, body] of wrongRequests()) {
        const headers = {
          authorization: stage.api.token,
          ...(body && { 'content-length': `${body.length}` }),
        }
        const answer = await send(method, stage.registry, path, headers, body)
        assert.equal(answer.status, status, what)
        expectReasons(what, answer)
      }
      assert.equal(await stage.index('3/f/foo'), before)
    },
  ),

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

type WrongRequest = [what: string, status: number, method: string, path: string, body?: Buffer]

/** Requests with one thing wrong each, and the status that is due. */
function wrongRequests(): WrongRequest[] {
  const frame = (...parts: readonly (string | number)[]) =>
    Buffer.concat(
      parts.map(part => (typeof part === 'string' ? Buffer.from(part, 'latin1') : u32(part))),
    )
  const owners = '/api/v1/crates/foo/owners'
  return [
    ['no body', 200, 'PUT', NEW],
    ['half a length', 200, 'PUT', NEW, frame('\x10\x00')],
    ['metadata cut short', 200, 'PUT', NEW, frame(100, '{"name"')],
    ['metadata that is no JSON', 200, 'PUT', NEW, frame(5, 'hello', 0)],
    ['metadata that is no UTF-8', 200, 'PUT', NEW, frame(2, '\xff\xfe', 0)],
    ['metadata that is a list', 200, 'PUT', NEW, frame(2, '[]', 0)],
    ['metadata of other kinds', 200, 'PUT', NEW, frame(21, '{"name":1,"vers":[1]}', 0)],
    ['metadata that is too long', 413, 'PUT', NEW, frame(0xffff_ffff, 'x')],
    ['no `.crate`', 200, 'PUT', NEW, frame(29, '{"name":"bar","vers":"1.0.0"}', 0)],
    [
      'a `.crate` that is none',
      200,
      'PUT',
      NEW,
      frame(29, '{"name":"bar","vers":"1.0.0"}', 4, 'nope'),
    ],
    [
      'a `.crate` that is too long',
      413,
      'PUT',
      NEW,
      frame(29, '{"name":"bar","vers":"1.0.0"}', 0xffff_ffff),
    ],
    ['a method that is none', 404, 'POST', NEW, frame('{}')],
    ['a route that is none', 404, 'GET', '/api/v1/nothing'],
    ['another version of the API', 404, 'GET', '/api/v2/crates'],
    ['a path that is no UTF-8', 404, 'GET', '/api/v1/crates/%FF'],
    ['a name that is none', 404, 'GET', '/api/v1/crates/..%2F..%2Fplimsoll.toml/owners'],
    ['a crate that is not there', 404, 'DELETE', '/api/v1/crates/bar/1.0.0/yank'],
    ['a version that is not there', 404, 'PUT', '/api/v1/crates/foo/9.9.9/unyank'],
    ['a version that is none', 200, 'DELETE', '/api/v1/crates/foo/one/yank'],
    ['owners that are no JSON', 200, 'PUT', owners, Buffer.from('hello')],
    ['owners of another kind', 200, 'PUT', owners, Buffer.from('{"users":"sailor"}')],
    ['no owners', 200, 'DELETE', owners],
  ]
}

/** The shape in which Cargo shows reasons instead of dumping the answer. */
function expectReasons(what: string, answer: Answer): void {
  assert.match(String(answer.headers['content-type']), /^application\/json/, what)
  assert.match(refusal(answer) ?? '', /^\S.{10,}/s, what)
}
