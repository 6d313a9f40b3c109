import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { Cleanup } from '../support/cleanup.ts'
import { run } from '../support/command.ts'
import { closeServer, freePort, listen } from '../support/loopback.ts'
import { MadeUpIssuer } from '../support/made-up-issuer.ts'
import { serve } from '../support/plimsoll.ts'
import { plimsollHere } from '../support/program.ts'
import { publishTo } from '../support/release.ts'
import { scratch } from '../support/scratch.ts'
import { JOBS, RULES } from '../support/trusted-jobs.ts'

/** The folder with `main.js` and `post.js` of rust-lang/crates-io-auth-action. */
const ACTION = process.env.PLIMSOLL_AUTH_ACTION
const skip = ACTION ? false : 'PLIMSOLL_AUTH_ACTION names no folder with the action of crates.io'

for (const way of ['at a path', 'behind a redirect'] as const) {
  test(`the official action gets a token ${way}, and ends it, unmodified`, { skip }, async t => {
    const cleanup = new Cleanup(t)
    const folder = scratch(cleanup)
    const port = await freePort()
    // Leads from an old path to the registry, as a proxy before it does.
    const front = createServer((request, response) => {
      const { method, headers, url: path = '' } = request
      if (path.startsWith('/old/')) {
        response.writeHead(307, { location: path.replace('/old/', '/reg/') }).end()
        return
      }
      const onward = httpRequest({ host: '127.0.0.1', port, method, headers, path }, answer => {
        response.writeHead(answer.statusCode ?? 500, answer.headers)
        answer.pipe(response)
      })
      request.pipe(onward)
    })
    const frontUrl = await listen(front)
    cleanup.add(() => closeServer(front))
    const base = `${frontUrl}/reg`
    const url = way === 'at a path' ? base : `${frontUrl}/old`
    const issuer = await MadeUpIssuer.start(t)
    issuer.now = new Date()
    const env = {
      ...issuer.settings('github', 'github'),
      PLIMSOLL_ISSUER_GITHUB_AUDIENCE: way === 'at a path' ? '' : url.replace('http://', ''),
      PLIMSOLL_REGISTRY_BASE_URL: base,
      PLIMSOLL_GIT_INDEX: 'off',
    }
    const dir = join(folder, 'registry')
    const ok = async (...args: readonly string[]) => {
      const ended = await plimsollHere([...args, '--dir', dir], env)
      assert.equal(ended.code, 0, ended.stderr)
    }
    await ok('init')
    await ok('user', 'add', 'alice')
    const claims = RULES.github.flatMap(claim => ['--claim', claim])
    await ok('trust', 'add', 'demo', '--issuer', 'github', ...claims, '--owner', 'alice')
    await serve(cleanup, dir, env, undefined, `127.0.0.1:${port}`)
    // What GitHub gives a job that may ask for a token of its own.
    issuer.answer = (request, response) => {
      const asked = new URL(request.url ?? '', issuer.url)
      if (asked.pathname !== '/idtoken') return issuer.answerAsUsual(request, response)
      assert.equal(request.headers.authorization, 'Bearer request-token')
      const aud = asked.searchParams.get('audience')
      void issuer
        .sign({ ...JOBS.github, aud })
        .then(value => response.end(JSON.stringify({ value })))
    }
    mkdirSync(join(folder, 'job'))
    const [output, state] = ['output', 'state'].map(name => join(folder, 'job', name))
    for (const path of [output, state]) writeFileSync(path ?? '', '')
    const job = {
      ...process.env,
      INPUT_URL: url,
      GITHUB_OUTPUT: output,
      GITHUB_STATE: state,
      ACTIONS_ID_TOKEN_REQUEST_URL: `${issuer.url}/idtoken?x=1`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'request-token',
    }
    const play = (file: string, more: Record<string, string> = {}) =>
      run(process.execPath, [join(ACTION ?? '', file)], { cwd: folder, env: { ...job, ...more } })
    const main = await play('main.js')
    assert.equal(main.code, 0, main.stdout + main.stderr)
    const [token = ''] = /plim_tp_\w+/.exec(readFileSync(output ?? '', 'utf8')) ?? []
    assert.equal((await publishTo(base, token, { name: 'demo', version: '1.0.0' })).status, 200)
    const post = await play('post.js', { STATE_token: token, STATE_registryUrl: url })
    assert.equal(post.code, 0, post.stdout + post.stderr)
    const after = await publishTo(base, token, { name: 'demo', version: '1.0.1' })
    assert.equal(after.status, 403)
  })
}
