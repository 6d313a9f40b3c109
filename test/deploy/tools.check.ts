// `npm run check:deploy`: the files of deploy/ under the eyes of the programs that read them. Those of
// `tools.sh` are looked for in its folder.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { test } from 'node:test'
import { parseAllDocuments } from 'yaml'
import { Cleanup } from '../support/cleanup.ts'
import { plimsoll, root, serve } from '../support/plimsoll.ts'
import { NO_UPSTREAM } from '../support/registry.ts'
import { scratch } from '../support/scratch.ts'

const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache')
const TOOLS = process.env.PLIMSOLL_DEPLOY_TOOLS ?? join(cache, 'plimsoll', 'deploy')
const env = { ...process.env, PATH: [join(TOOLS, 'bin'), process.env.PATH].join(delimiter) }
const deploy = join(root, 'deploy')
const CHART = join(deploy, 'helm', 'plimsoll')
/** Renders the chart; helm would assume an old cluster otherwise. The values have no default. */
const RENDER = [
  ...['template', 'plimsoll', CHART, '--kube-version=1.31.0'],
  ...['--set=baseUrl=https://crates.example.com', '--set=image.repository=images/plimsoll'],
]
/** Every part of the chart that is off by default. */
const ALL = [
  ...['ingress.enabled=true', 'ingress.host=crates.example.com', 'ingress.className=nginx'],
  ...['ingress.tlsSecret=tls', 'metrics.serviceMonitor.enabled=true', 'secrets={git}'],
  ...['metrics.serviceMonitor.tokenSecret=scrape', 'trustedProxies={10.0.0.0/8}'],
  'persistence.storageClass=fast',
].map(one => `--set=${one}`)

function missing(name: string): string | false {
  return spawnSync(name, ['--help'], { env }).error === undefined ? false : `there is no ${name}`
}

/** Runs a program, and returns what it printed; any other exit code than `code` is a failure. */
function run(name: string, args: readonly string[], code = 0): string {
  const { status, stdout, stderr } = spawnSync(name, args, { env, encoding: 'utf8' })
  assert.equal(status, code, `${name} ${args.join(' ')}\n${stdout}${stderr}`)
  return `${stdout}${stderr}`
}

test('helm: the chart has no faults, and refuses wrong values', { skip: missing('helm') }, () => {
  run('helm', ['lint', '--strict', CHART, ...RENDER.slice(-2)])
  assert.match(run('helm', RENDER.slice(0, -2), 1), /'\/baseUrl'/)
  assert.match(run('helm', [...RENDER, '--set=replicas=2'], 1), /'replicas' not allowed/)
})

test('helm: what the chart renders', { skip: missing('helm') }, () => {
  const kinds = (...args: string[]) =>
    parseAllDocuments(run('helm', [...RENDER, ...args]))
      .map(one => {
        assert.deepEqual(one.errors, [])
        return (one.toJS() as { kind: string }).kind
      })
      .sort()
  const always = ['NetworkPolicy', 'Service', 'StatefulSet']
  assert.deepEqual(kinds(), always)
  assert.deepEqual(kinds(...ALL), ['Ingress', ...always, 'ServiceMonitor'].sort())
})

test('helm: settings that the image has under another name, or cannot have', {
  skip: missing('helm'),
}, () => {
  const listen = run('helm', [...RENDER, '--set=settings.server\\.listen=[::]:8080'])
  assert.match(listen, /name: PLIMSOLL_LISTEN\n\s+value: "\[::\]:8080"/)
  run('helm', [...RENDER, '--set=settings.tls\\.cert=/tls/cert.pem'], 1)
})

test('helm: no probe asks for what a full disk changes', { skip: missing('helm') }, () => {
  const probes = run('helm', RENDER).matchAll(/(\w+)Probe:\s+httpGet: \{path: (\S+),/g)
  // Of these, test/daemon/full-disk.test.ts has the answers.
  const expected = { startup: '/startupz', readiness: '/healthz', liveness: '/healthz' }
  assert.deepEqual(Object.fromEntries([...probes].map(([, what, path]) => [what, path])), expected)
})

test('promtool: the alerts are sound', { skip: missing('promtool') }, () => {
  run('promtool', [
    'check',
    'rules',
    '--lint-fatal',
    join(deploy, 'prometheus', 'plimsoll.rules.yaml'),
  ])
})

test('the alerts are about metrics that the daemon has', async t => {
  const cleanup = new Cleanup(t)
  const dir = join(scratch(cleanup), 'registry')
  assert.equal((await plimsoll('.', ['init', '--dir', dir])).code, 0)
  const { url } = await serve(cleanup, dir, NO_UPSTREAM)
  await fetch(`${url}/index/config.json`)
  const page = await (await fetch(`${url}/metrics`)).text()
  const rules = readFileSync(join(deploy, 'prometheus', 'plimsoll.rules.yaml'), 'utf8')
  const names = new Set(rules.match(/\b(?:plimsoll_\w+|nodejs_\w+|process_\w+)/g))
  assert.ok(names.size >= 8)
  assert.deepEqual(
    [...names].filter(name => !page.includes(`# TYPE ${name.replace(/_bucket$/, '')} `)),
    [],
  )
})

test('actionlint: the workflow is one', { skip: missing('actionlint') }, () => {
  for (const name of readdirSync(join(deploy, 'pages')))
    run('actionlint', ['-shellcheck=', join(deploy, 'pages', name)])
})

test('systemd knows every directive', { skip: missing('systemd-analyze') }, () => {
  const unit = join(deploy, 'systemd', 'plimsoll.service')
  const said = run('systemd-analyze', ['verify', unit])
  assert.doesNotMatch(said, /plimsoll\.service:\d+/)
  run('systemd-analyze', ['security', '--offline=true', '--threshold=20', unit])
})
