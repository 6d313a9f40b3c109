// `npm run check:deploy`: the files of deploy/ under the eyes of the programs that read them. Those of
// `tools.sh` are looked for in its folder.
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Cleanup } from '../support/cleanup.ts'
import { missing, run } from '../support/deploy-tools.ts'
import { none } from '../support/none.ts'
import { plimsoll, root, serve } from '../support/plimsoll.ts'
import { NO_UPSTREAM } from '../support/registry.ts'
import { scratch } from '../support/scratch.ts'

const deploy = join(root, 'deploy')

test('promtool: the alerts are sound', { skip: missing('promtool') }, () => {
  run('promtool', [
    'check',
    'rules',
    '--lint-fatal',
    join(deploy, 'prometheus', 'plimsoll.rules.yaml'),
  ])
})

test('the alerts and the dashboard are about metrics that the daemon has', async t => {
  const cleanup = new Cleanup(t)
  const dir = join(scratch(cleanup), 'registry')
  assert.equal((await plimsoll('.', ['init', '--dir', dir])).code, 0)
  const { url } = await serve(cleanup, dir, NO_UPSTREAM)
  await fetch(`${url}/index/config.json`)
  const page = await (await fetch(`${url}/metrics`)).text()
  const files = ['plimsoll.rules.yaml', 'dashboard.json'].map(name =>
    readFileSync(join(deploy, 'prometheus', name), 'utf8'),
  )
  const names = new Set(files.join('').match(/\b(?:plimsoll_\w+|nodejs_\w+|process_\w+)/g))
  assert.ok(names.size >= 8)
  none(
    [...names].filter(name => !page.includes(`# TYPE ${name.replace(/_(?:bucket|count)$/, '')} `)),
  )
})

test('caddy: TLS in front of nginx', { skip: missing('caddy') }, () => {
  const file = join(deploy, 'caddy', 'Caddyfile')
  const env = { PLIMSOLL_URL: 'https://crates.example.com' }
  const args = ['adapt', '--adapter=caddyfile', `--config=${file}`, '--validate']
  const { apps } = JSON.parse(run('caddy', args, { env }).split('\n')[0] ?? '')
  const { srv0 } = apps.http.servers
  assert.deepEqual([srv0.listen, srv0.logs], [[':8443'], undefined])
  assert.deepEqual(srv0.routes[0].match, [{ host: ['crates.example.com'] }])
})

test('actionlint: the workflows are', { skip: missing('actionlint') }, () => {
  for (const folder of [join(deploy, 'pages'), join(root, '.github', 'workflows')])
    for (const name of readdirSync(folder).filter(name => name.endsWith('.yml')))
      run('actionlint', ['-shellcheck=', join(folder, name)])
})

test('systemd knows every directive', { skip: missing('systemd-analyze') }, t => {
  const service = scratch(new Cleanup(t))
  const read = (name: string) => readFileSync(join(deploy, 'systemd', name), 'utf8')
  // The program has to be there.
  const text = read('plimsoll.service').replaceAll('/opt/plimsoll/plimsoll', process.execPath)
  const unit = join(service, 'plimsoll.service')
  writeFileSync(unit, text)
  assert.doesNotMatch(run('systemd-analyze', ['verify', unit]), /plimsoll\.service:\d+/)
  const merged = join(service, 'merged', 'plimsoll.service')
  mkdirSync(join(service, 'merged'))
  writeFileSync(merged, `${text}\n${read('credentials.conf')}`)
  assert.doesNotMatch(run('systemd-analyze', ['verify', merged]), /plimsoll\.service:\d+/)
  run('systemd-analyze', ['security', '--offline=true', '--threshold=20', unit])
})
