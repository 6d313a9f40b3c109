// Mirrors Dockerfile, compose.yaml and deploy/
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse, parseAllDocuments } from 'yaml'
import { codesOf } from '../../core/error/catalog.ts'
import { CACHE_CONTROL } from '../../core/paths/tree.ts'
import {
  findVariable,
  namedSettings,
  settingByVariable,
  settingTable,
} from '../../core/settings/schema.ts'
import { Cleanup } from '../support/cleanup.ts'
import { expectCode, run } from '../support/command.ts'
import { buildCrate } from '../support/crate-builder.ts'
import { lastOf, parseDockerfile, type Stage, variables } from '../support/dockerfile.ts'
import { none } from '../support/none.ts'
import { hostEnvironment, root } from '../support/plimsoll.ts'
import { scratch } from '../support/scratch.ts'

const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const all = ['Dockerfile', 'compose.yaml', ...filesIn('deploy'), ...filesIn('.github')]
/** An image that is the same whenever it is pulled. */
const PINNED = /^[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}$/
const VERSION = (JSON.parse(read('package.json')) as { version: string }).version

test('the version of the packages is that of the program', () => {
  const final = parseDockerfile(read('Dockerfile')).at(-1)
  assert.ok(final && lastOf(final, 'LABEL').includes(`image.version="${VERSION}"`))
  const { version, appVersion } = parse(read('deploy/helm/plimsoll/Chart.yaml'))
  assert.deepEqual([version, appVersion], [VERSION, VERSION])
  assert.equal(parse(read('compose.yaml')).services.plimsoll.image, `plimsoll:${VERSION}`)
})

test('every service of compose.yaml is confined, has fixed images and no password', () => {
  const { services } = parse(read('compose.yaml'), { merge: true })
  const names = ['plimsoll', 'postgresql', 'objects', 'buckets', 'nginx', 'caddy']
  assert.deepEqual(Object.keys(services), names)
  for (const [name, service] of Object.entries<Record<string, unknown>>(services)) {
    assert.equal(service.read_only, true, name)
    assert.deepEqual(service.cap_drop, ['ALL'], name)
    assert.deepEqual(service.security_opt, ['no-new-privileges:true'], name)
    // What makes the buckets ends.
    assert.equal(service.restart, name === 'buckets' ? 'no' : 'unless-stopped', name)
    if (!service.build) assert.match(String(service.image), PINNED, name)
    const secrets = Object.entries(service.environment ?? {}).filter(([key]) =>
      /PASS|SECRET|TOKEN/.test(key),
    )
    for (const [key, value] of secrets) assert.match(value, /^\$\{\w+:-\}$/, key)
  }
})

test('what needs a profile is waited for only with it, and starts in order', () => {
  const { services, volumes } = parse(read('compose.yaml'), { merge: true })
  const healthy = { condition: 'service_healthy', required: false }
  assert.deepEqual(services.plimsoll.depends_on, { postgresql: healthy, objects: healthy })
  assert.deepEqual(services.objects.depends_on, {
    buckets: { condition: 'service_completed_successfully' },
  })
  for (const name of ['objects', 'buckets']) assert.deepEqual(services[name].profiles, ['objects'])
  for (const name of ['plimsoll', 'objects', 'buckets'])
    assert.equal(services[name].ports, undefined, name)
  // The volume belongs to who is first to have it: the user of the daemon's image.
  const user = lastOf(parseDockerfile(read('Dockerfile')).at(-1) as Stage, 'USER')
  assert.deepEqual([services.objects.user, services.buckets.user], [user, undefined])
  assert.equal(services.buckets.image, services.plimsoll.image)
  const mounted = Object.values<{ volumes: (string | { source: string })[] }>(services).flatMap(
    ({ volumes }) =>
      volumes.map(volume => (typeof volume === 'string' ? volume.split(':')[0] : volume.source)),
  )
  assert.deepEqual([...new Set(mounted)].sort(), Object.keys(volumes).sort())
})

test('nginx reaches the daemon through the network whose addresses are trusted, and logs no password link', () => {
  const { services, networks } = parse(read('compose.yaml'), { merge: true })
  const { environment, networks: joined } = services.plimsoll
  for (const config of ['nginx.conf', 'private.conf']) {
    const [, name] = /set \$daemon (\w+):8080;/.exec(read(`deploy/nginx/${config}`)) ?? []
    assert.deepEqual(joined, { inside: { aliases: [name] }, outside: null })
  }
  const configs = ['nginx', 'private'].map(name => `deploy/nginx/${name}.conf`)
  for (const file of [...configs, 'docs/run/hosting.md', 'docs/run/several-daemons.md'])
    assert.match(read(file), /location = \/me\/password \{\s+access_log off;/, file)
  const { subnet } = networks.inside.ipam.config[0]
  assert.ok(environment.PLIMSOLL_SERVER_TRUSTED_PROXIES.endsWith(`:-${subnet}}`))
  assert.match(subnet, /^\$\{PLIMSOLL_NETWORK:-[\d./]+\}$/)
  // Caddy before it comes from there, too.
  const [, name] = /reverse_proxy (\w+):8080/.exec(read('deploy/caddy/Caddyfile')) ?? []
  assert.deepEqual(services.nginx.networks, { inside: { aliases: [name] }, outside: null })
  assert.ok(services.caddy.networks.includes('inside'))
})

test('the S3 server of compose.yaml is the version that the tests run on', () => {
  const { services } = parse(read('compose.yaml'), { merge: true })
  const [, version] = /const VERSION = '(v[\d.]+)'/.exec(read('scripts/versitygw.mjs')) ?? []
  assert.ok(version && services.objects.image.startsWith(`versity/versitygw:${version}@`))
})

test('files for web servers have the cache rules that the daemon has', () => {
  for (const file of ['deploy/nginx/nginx.conf', 'docs/run/hosting.md']) {
    const rules = [...read(file).matchAll(/Cache-Control (?:"([^"]+)"|([\w-]+))/g)]
    const named = rules.map(([, quoted, bare]) => quoted ?? bare)
    assert.deepEqual(new Set(named), new Set(Object.values(CACHE_CONTROL)), file)
  }
})

test('every setting that the packages name exists', () => {
  const units = ['plimsoll.service', 'credentials.conf'].map(name => `deploy/systemd/${name}`)
  const named = ['Dockerfile', ...units].flatMap(file => [...read(file).matchAll(/PLIMSOLL_\w+/g)])
  const { services } = parse(read('compose.yaml'), { merge: true })
  const names = [
    ...named.map(([name]) => name),
    ...Object.keys(services.plimsoll.environment).filter(name => name !== 'PGPASSWORD'),
  ]
  none(names.filter(name => !settingByVariable.has(name) && name !== 'PLIMSOLL_DIR'))
})

test('all YAML can be read, and values of the chart obey its schema of names', () => {
  for (const file of all.filter(name => /\.ya?ml$/.test(name) && !name.includes('/templates/')))
    for (const document of parseAllDocuments(read(file)))
      assert.deepEqual([file, ...document.errors], [file])
  const schema = JSON.parse(read('deploy/helm/plimsoll/values.schema.json'))
  const values = parse(read('deploy/helm/plimsoll/values.yaml'))
  const names = Object.keys(schema.properties).filter(name => name !== 'global')
  assert.deepEqual(Object.keys(values).sort(), names.sort())
})

test('the chart takes every setting, those of upstreams too, and writes no variable of its own', () => {
  const { settings } = JSON.parse(read('deploy/helm/plimsoll/values.schema.json')).properties
  const form = new RegExp(settings.propertyNames.pattern)
  const upstreams = [
    'upstream.crates-io',
    'upstream.b2-mirror',
    'issuer.github',
    'oidc.acme-2',
    'webhook.chat-ops',
  ].flatMap(namedSettings)
  const keys = [...settingTable.keys(), ...upstreams.map(({ key }) => key)]
  none(keys.filter(key => !form.test(key) || settings.properties?.[key] === false))
  // How `plimsoll.env` makes a variable of a key.
  const names = read('deploy/helm/plimsoll/templates/_names.tpl')
  const [, pipe = ''] =
    /PLIMSOLL_\{\{ \$key((?: \| replace "." "_")+) \| upper \}\}/.exec(names) ?? []
  const replaced = [...pipe.matchAll(/replace "(.)"/g)].map(([, from = '']) => from)
  for (const key of keys) {
    const variable = replaced.reduce((text, from) => text.replaceAll(from, '_'), key).toUpperCase()
    assert.equal(findVariable(`PLIMSOLL_${variable}`)?.key, key)
  }
})

test('the chart has one daemon by default, unprivileged, with a read-only root', () => {
  assert.equal(parse(read('deploy/helm/plimsoll/values.yaml')).replicas, 1)
  const templates = ['statefulset.yaml', '_names.tpl']
  const text = templates.map(name => read(`deploy/helm/plimsoll/templates/${name}`)).join('')
  for (const line of [
    'include "plimsoll.podSecurity"',
    'include "plimsoll.containerSecurity"',
    'runAsNonRoot: true',
    'readOnlyRootFilesystem: true',
    'allowPrivilegeEscalation: false',
    'capabilities: {drop: [ALL]}',
    'automountServiceAccountToken: false',
    'seccompProfile: {type: RuntimeDefault}',
  ])
    assert.ok(text.includes(line), line)
})

test('every alert has a heading that says what to do', () => {
  const { groups } = parse(read('deploy/prometheus/plimsoll.rules.yaml'))
  const headings = [...read('docs/run/alerts.md').matchAll(/^## (\w+)$/gm)].map(([, name]) => name)
  const rules: { alert: string; annotations: { runbook_url: string } }[] = groups[0].rules
  assert.deepEqual(
    rules.map(({ alert }) => alert),
    headings,
  )
  for (const { alert, annotations } of rules)
    assert.equal(annotations.runbook_url, `docs/run/alerts.md#${alert.toLowerCase()}`)
})

test('every failure of the catalog that is a 5xx is in an alert, one burst of it is enough', () => {
  const { groups } = parse(read('deploy/prometheus/plimsoll.rules.yaml'))
  const rules: { alert: string; expr: string; for?: string }[] = groups[0].rules
  const patterns = rules.flatMap(({ expr }) =>
    [...expr.matchAll(/failures_total\{code=~"([^"]+)"/g)].map(
      ([, all]) => new RegExp(`^(?:${all})$`),
    ),
  )
  const left = codesOf('busy', 'full', 'failed').filter(
    code => !patterns.some(pattern => pattern.test(code)),
  )
  assert.deepEqual(left, [])
  for (const { alert, expr, for: lasting } of rules) {
    const [, window] = /increase\(.*\[(\d+[mhd])\]\)/.exec(expr) ?? []
    const seconds = (text: string) =>
      Number.parseInt(text, 10) * ({ m: 60, h: 3600, d: 86_400 }[text.slice(-1)] ?? 0)
    if (window && lasting) assert.ok(seconds(lasting) <= seconds(window) / 2, alert)
  }
})

test('the unit is hardened, and starts the launcher of the archive', () => {
  const unit = read('deploy/systemd/plimsoll.service')
  const hardening = ['NoNewPrivileges=yes', 'CapabilityBoundingSet=', 'ProtectSystem=strict']
  for (const line of [...hardening, 'RestartPreventExitStatus=2'])
    assert.ok(unit.split('\n').includes(line), line)
  assert.match(unit, /^ExecStart=\/opt\/plimsoll\/plimsoll serve --init$/m)
})

test('image and unit say where the home folder is: a uid without an account has none', () => {
  const final = parseDockerfile(read('Dockerfile')).at(-1)
  assert.equal(final && variables(final).HOME, '/data')
  assert.match(read('deploy/systemd/plimsoll.service'), /^Environment=HOME=\/var\/lib\/plimsoll$/m)
})

test('the documents that the unit names are there', () => {
  const unit = read('deploy/systemd/plimsoll.service')
  const [, documents = ''] = /^Documentation=(.+)$/m.exec(unit) ?? []
  for (const url of documents.split(' ')) read(url.replace('file:/opt/plimsoll/', ''))
})

test('crates push to one repository of a registry, also when another was faster', async t => {
  const { jobs } = parse(read('deploy/pages/crate.yml'))
  const { run: script } = jobs.push.steps.find((step: { id?: string }) => step.id === 'add')
  const folder = scratch(new Cleanup(t))
  const origin = join(folder, 'origin.git')
  const sh = async (cwd: string, text: string, more: NodeJS.ProcessEnv = {}) => {
    const env = { ...hostEnvironment(), ...more, HOME: folder, BASE_URL: 'https://a.example/b' }
    return expectCode(text, await run('bash', ['-ec', text], { cwd, env }), 0)
  }
  await sh(folder, `git init -q --bare -b main ${origin} && mkdir bin`)
  const program = `exec "${process.execPath}" "${join(root, 'dist', 'program', 'cli.js')}" "$@"`
  writeFileSync(join(folder, 'bin', 'plimsoll'), `#!/bin/sh\n${program}\n`, { mode: 0o755 })
  const PATH = `${join(folder, 'bin')}:${hostEnvironment().PATH}`
  const add = async (crate: string, before: string) => {
    const at = join(folder, crate)
    mkdirSync(join(at, 'target', 'package'), { recursive: true })
    const bytes = buildCrate({ name: crate, version: '1.0.0' })
    writeFileSync(join(at, 'target', 'package', `${crate}-1.0.0.crate`), bytes)
    await sh(at, `git clone -q ${origin} registry && ${before}`)
    const names = { GITHUB_ACTOR: 'a', GITHUB_REPOSITORY: `a/${crate}`, GITHUB_REF_NAME: 'v1.0.0' }
    return async () => sh(join(at, 'registry'), script, { ...names, PATH })
  }
  const seed = 'cd registry && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m a'
  const [first, second] = [
    await add('alpha', `${seed} && git push -q origin HEAD:main`),
    await add('my_beta', 'true'),
  ]
  await first()
  assert.match((await second()).stdout, /attempt 1 met another push/)
  const files = (await sh(folder, `git -C ${origin} ls-tree -r --name-only main`)).stdout
  // Without `.nojekyll`, GitHub leaves out folders whose names begin with `_`.
  for (const file of ['index/al/ph/alpha', 'index/my/_b/my_beta', '.nojekyll'])
    assert.ok(files.split('\n').includes(`docs/${file}`), files)
  assert.doesNotMatch(files, /\.push/)
})

test('no package names the host of a package registry', () => {
  const hosts = /registry\.npmjs|docker\.io|ghcr\.io|gcr\.io|quay\.io/
  none(all.filter(file => hosts.test(read(file))))
})

test('the daemon is given more time to stop than it takes', () => {
  const seconds = 30
  assert.equal(settingTable.get('server.shutdown_seconds')?.row.private, seconds)
  const { services } = parse(read('compose.yaml'), { merge: true })
  const { terminationGracePeriodSeconds } = parse(read('deploy/helm/plimsoll/values.yaml'))
  const [, unit] = /^TimeoutStopSec=(\d+)s$/m.exec(read('deploy/systemd/plimsoll.service')) ?? []
  const compose = services.plimsoll.stop_grace_period.replace('s', '')
  for (const period of [compose, terminationGracePeriodSeconds, unit])
    assert.ok(Number(period) > seconds, String(period))
})

function filesIn(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name).slice(root.length + 1))
}
