// `npm run check:deploy`: what helm makes of deploy/helm/, against the schemas of Kubernetes.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { type parse, parseAllDocuments, stringify } from 'yaml'
import { findVariable, namedSettings, settingTable } from '../../core/settings/schema.ts'
import { missing, run } from '../support/deploy-tools.ts'
import { root } from '../support/plimsoll.ts'
import { folderOf } from '../support/workplace.ts'

const CHART = join(root, 'deploy', 'helm', 'plimsoll')
/** What has no default. */
const REQUIRED = { baseUrl: 'https://crates.example.com', image: { repository: 'images/plimsoll' } }
const BUCKETS = { 'storage.crates': 's3://crates', 'storage.public': 's3://public' }
const SHARED = { 'database.url': 'postgres://plimsoll@db/plimsoll', ...BUCKETS }
const always = ['NetworkPolicy', 'Service', 'StatefulSet']

/** Sets of values, and the kinds that the chart has then. */
const SETS: Readonly<Record<string, { values: object; kinds: readonly string[] }>> = {
  small: { values: {}, kinds: always },
  'with TLS, metrics and backups': {
    values: {
      ingress: { enabled: true, host: 'crates.example.com', className: 'nginx', tlsSecret: 'tls' },
      metrics: {
        serviceMonitor: { enabled: true, labels: { release: 'monitoring' }, tokenSecret: 'scrape' },
        prometheusRule: { enabled: true, docs: 'https://git.example.com/plimsoll/docs/' },
      },
      backup: { enabled: true, claim: 'backups' },
      trustedProxies: ['10.0.0.0/8'],
      persistence: { storageClass: 'fast' },
    },
    kinds: [...always, 'CronJob', 'Ingress', 'PrometheusRule', 'ServiceMonitor'],
  },
  'three daemons': {
    values: {
      replicas: 3,
      settings: { ...SHARED, 'git.index': 'off' },
      secrets: ['database'],
      serviceAccount: { create: true, annotations: { 'eks.amazonaws.com/role-arn': 'arn:x' } },
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'DoNotSchedule' },
      ],
      priorityClassName: 'important',
    },
    kinds: [...always, 'PodDisruptionBudget', 'ServiceAccount'],
  },
  'one daemon with buckets': {
    values: {
      settings: BUCKETS,
      extraEnv: [{ name: 'AWS_REGION', value: 'eu-west-1' }],
      extraVolumes: [{ name: 'ca', configMap: { name: 'ca' } }],
      extraVolumeMounts: [{ name: 'ca', mountPath: '/etc/ca', readOnly: true }],
      serviceAccount: { name: 'buckets' },
    },
    kinds: always,
  },
  'bound to a place': {
    values: {
      persistence: { existingClaim: 'registry' },
      backup: { enabled: true, claim: 'backups', days: 3 },
      networkPolicy: { enabled: false },
      nodeSelector: { disk: 'ssd' },
      tolerations: [{ key: 'registry', operator: 'Exists' }],
      podAnnotations: { team: 'rust' },
      image: { digest: `sha256:${'a'.repeat(64)}`, pullSecrets: [{ name: 'pull' }] },
    },
    kinds: ['CronJob', 'Service', 'StatefulSet'],
  },
}

/** YAML as helm and Kubernetes read it, where `off` is no text. */
const yaml = (value: unknown): string =>
  stringify(value, { version: '1.1', aliasDuplicateObjects: false })

function helm(values: object, code = 0): string {
  const { image, ...others } = values as { image?: object }
  const all = { ...REQUIRED, ...others, image: { ...REQUIRED.image, ...image } }
  // helm would assume an old cluster otherwise.
  const args = ['template', 'plimsoll', CHART, '--kube-version=1.31.0', '--values=-']
  return run('helm', args, { code, input: yaml(all) })
}

type Manifest = ReturnType<typeof parse>

function render(values: object): Map<string, Manifest> {
  const documents = parseAllDocuments(helm(values)).map(document => {
    assert.deepEqual(document.errors, [])
    return document.toJS() as Manifest
  })
  return new Map(
    documents.filter(document => document !== null).map(document => [document.kind, document]),
  )
}

const skip = missing('helm')

test('helm: the chart has no faults, and refuses wrong values', { skip }, () => {
  run('helm', ['lint', '--strict', CHART, '--values=-'], { input: yaml(REQUIRED) })
  assert.match(helm({ baseUrl: '' }, 1), /'\/baseUrl'/)
  assert.match(helm({ replica: 2 }, 1), /'replica' not allowed/)
  helm({ settings: { 'limits.crate_bytes': '20mb' } }, 1)
})

for (const [name, { values, kinds }] of Object.entries(SETS))
  test(`helm: ${name}`, { skip }, t => {
    const manifests = render(values)
    assert.deepEqual([...manifests.keys()].sort(), [...kinds].sort())
    const absent = missing('kubernetes-validate')
    if (absent) return t.diagnostic(absent)
    // Kubernetes itself does not have the kinds of the Prometheus operator.
    const own = [...manifests.values()].filter(
      manifest => !manifest.apiVersion.startsWith('monitoring.'),
    )
    const text = own.map(yaml).join('---\n')
    run('kubernetes-validate', ['-k', '1.31', '--strict', '--no-warn', '-'], { input: text })
  })

test('helm: several daemons need what they share, and the reason is said', { skip }, () => {
  const refusal = (values: object) => helm(values, 1)
  for (const key of Object.keys(SHARED)) {
    const settings = Object.fromEntries(Object.entries(SHARED).filter(([name]) => name !== key))
    assert.match(
      refusal({ replicas: 2, settings }),
      new RegExp(`replicas: 2 needs settings\\."${key}" with .*: daemons share the records`),
    )
  }
  const folder = { ...SHARED, 'storage.public': '/mnt/public' }
  assert.match(refusal({ replicas: 2, settings: folder }), /needs settings\."storage\.public"/)
  const backup = { enabled: true, claim: 'backups' }
  assert.ok(render({ settings: SHARED, backup }).get('CronJob'), 'also with PostgreSQL')
  assert.match(refusal({ backup: { enabled: true } }), /backup\.enabled needs backup\.claim/)
  const set = render(SETS['three daemons']?.values ?? {})
  assert.equal(set.get('StatefulSet').spec.replicas, 3)
  assert.equal(set.get('PodDisruptionBudget').spec.maxUnavailable, 1)
  const { matchLabels } = set.get('StatefulSet').spec.selector
  assert.deepEqual(set.get('PodDisruptionBudget').spec.selector, { matchLabels })
  const { spec } = set.get('StatefulSet').spec.template
  assert.deepEqual(spec.topologySpreadConstraints[0].labelSelector, { matchLabels })
  assert.equal(spec.serviceAccountName, set.get('ServiceAccount').metadata.name)
})

test('helm: Prometheus sees the daemon by the name that the alerts have', { skip }, () => {
  const set = render(SETS['with TLS, metrics and backups']?.values ?? {})
  const { labels } = set.get('Service').metadata
  const { jobLabel, selector, endpoints } = set.get('ServiceMonitor').spec
  for (const [key, value] of Object.entries(selector.matchLabels)) assert.equal(labels[key], value)
  assert.equal(set.get('Service').spec.ports[0].name, endpoints[0].port)
  const { groups } = set.get('PrometheusRule').spec
  const rules = new Map<string, Manifest>(
    groups[0].rules.map((rule: Manifest) => [rule.alert, rule]),
  )
  const down = rules.get('PlimsollDown')
  assert.equal(
    down.expr,
    `up{job="${labels[jobLabel]}"} == 0 or absent(up{job="${labels[jobLabel]}"})`,
  )
  const { runbook_url: url } = down.annotations
  assert.equal(url, 'https://git.example.com/plimsoll/docs/run/alerts.md#plimsolldown')
  // The claim of a StatefulSet: the template's name, the set's, the number of the pod.
  const [, pattern = ''] = /persistentvolumeclaim=~"([^"]+)"/.exec(
    rules.get('PlimsollDiskFillsUp').expr,
  ) ?? ['']
  const { volumeClaimTemplates, serviceName } = set.get('StatefulSet').spec
  const claim = `${volumeClaimTemplates[0].metadata.name}-${serviceName}-0`
  assert.match(claim, new RegExp(`^(?:${pattern})$`))
  const { volumes } = set.get('CronJob').spec.jobTemplate.spec.template.spec
  assert.equal(volumes[1].persistentVolumeClaim.claimName, claim)
})

test('helm: an ingress takes what the daemon takes', { skip }, () => {
  const sized = (settings: object, annotations = {}) =>
    render({ ingress: { enabled: true, host: 'a.example', annotations }, settings }).get('Ingress')
      .metadata.annotations
  const key = 'nginx.ingress.kubernetes.io/proxy-body-size'
  assert.equal(sized({})[key], String(11 * 1024 ** 2))
  const large = { 'limits.crate_bytes': '200 MB', 'limits.metadata_bytes': '1048576' }
  assert.equal(sized(large)[key], String(200_000_000 + 1024 ** 2))
  assert.equal(sized({}, { [key]: '1g' })[key], '1g')
})

test('helm: a backup runs beside the daemon, and is no daemon to its Service', { skip }, t => {
  const set = render(SETS['with TLS, metrics and backups']?.values ?? {})
  const { spec, metadata } = set.get('CronJob').spec.jobTemplate.spec.template
  const { selector } = set.get('Service').spec
  const [rule] = spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution
  assert.deepEqual(rule.labelSelector.matchLabels, selector)
  const [first] = rule.labelSelector.matchExpressions
  assert.deepEqual(
    first.values,
    [`${set.get('StatefulSet').metadata.name}-0`],
    'whose volume it has',
  )
  assert.notDeepEqual({ ...metadata.labels, ...selector }, metadata.labels)
  const [daemon] = set.get('StatefulSet').spec.template.spec.containers
  const [container] = spec.containers
  assert.deepEqual([container.image, container.env], [daemon.image, daemon.env])
  const folder = folderOf(t)
  for (const [name, days] of [
    ['plimsoll-old.tar', 15],
    ['plimsoll-young.tar', 13],
    ['other-old.tar', 15],
  ] as const) {
    writeFileSync(join(folder, name), '')
    const at = new Date(Date.now() - days * 86_400_000)
    utimesSync(join(folder, name), at, at)
  }
  const program = '#!/bin/sh\nfor word; do last="$word"; done; echo "$1" > "$last"\n'
  writeFileSync(join(folder, 'plimsoll'), program, { mode: 0o755 })
  const script = container.args[0].replaceAll('/backups', folder)
  const env = { PATH: `${folder}:/usr/bin:/bin` }
  run(process.execPath, [...container.command.slice(1), script], { env })
  const names = readdirSync(folder).filter(name => name.endsWith('.tar'))
  const made = names.find(name => /^plimsoll-\d{8}T\d{6}Z\.tar$/.test(name)) ?? ''
  assert.equal(readFileSync(join(folder, made), 'utf8'), 'backup\n')
  const kept = ['other-old.tar', 'plimsoll-young.tar', made]
  assert.deepEqual(names.sort(), kept.sort())
})

test('helm: a setting that the image has under another name', { skip }, () => {
  const { containers } = render({ settings: { 'server.listen': '[::]:8080' } }).get('StatefulSet')
    .spec.template.spec
  const { env } = containers[0]
  assert.deepEqual(env.at(-1), { name: 'PLIMSOLL_LISTEN', value: '[::]:8080' })
})

test('helm: the daemon gets every setting that the chart is given', { skip }, () => {
  const upstreams = [
    'upstream.crates-io',
    'upstream.b2-mirror',
    'issuer.github',
    'oidc.acme-2',
    'webhook.chat-ops',
  ].flatMap(namedSettings)
  const sizes = (key: string) => (key.endsWith('_bytes') ? '10 MiB' : 'off')
  const all = [...settingTable.keys(), ...upstreams.map(({ key }) => key)].sort()
  const settings = Object.fromEntries(
    all.map(key => [key, key === 'server.listen' ? '[::]:9000' : sizes(key)]),
  )
  const set = render({ settings, trustedProxies: ['10.0.0.0/8'] })
  const [container] = set.get('StatefulSet').spec.template.spec.containers
  const variables = container.env.map(({ name, value }: { name: string; value: string }) => [
    findVariable(name)?.key,
    value,
  ])
  assert.deepEqual(variables.sort(), Object.entries(settings))
  assert.equal(container.ports[0].containerPort, 9000)
  for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe'])
    assert.equal(container[probe].httpGet.scheme, 'HTTPS', 'with tls.cert')
})

test('helm: what upstreams need is open, and nothing without them', { skip }, () => {
  const ports = (settings: object, more = {}) => {
    const { egress } = render({ settings, ...more }).get('NetworkPolicy').spec
    return egress.flatMap((rule: Manifest) => rule.ports).map(({ port }: Manifest) => port)
  }
  assert.deepEqual(
    ports({ 'auth.required': 'true', 'storage.endpoint': 'http://s3:9000' }),
    [53, 53],
  )
  assert.deepEqual(ports({ 'upstream.crates-io.fallback': 'serve' }), [53, 53, 443])
  const told = {
    'webhook.chat.url': 'https://hooks.example:8443/x',
    'cdn.purge_url': 'http://cdn.example:6081/purge',
  }
  assert.deepEqual(ports(told), [53, 53, 443, 6081, 8443])
  const several = {
    'upstream.crates-io.deny': 'evil*,openssl@<0.10.60',
    'upstream.near.index': 'sparse+http://near.example:8080/index/',
    'upstream.near.feed': 'https://[fd00::1]/feed.xml',
    'upstream.plain.index': 'sparse+http://plain.example/index/',
    'upstream.plain.storage': 's3://kept/plain',
    'storage.endpoint': 'http://s3:9000',
  }
  const extraEnv = [{ name: 'HTTPS_PROXY', value: 'http://proxy.example:3128' }]
  assert.deepEqual(ports(several, { extraEnv }), [53, 53, 3128, 443, 80, 8080, 9000])
})

test('helm: no probe asks for what a full disk changes', { skip }, () => {
  const [daemon] = render({}).get('StatefulSet').spec.template.spec.containers
  // Of these, test/daemon/full-disk.test.ts has the answers.
  const expected = {
    startupProbe: '/startupz',
    readinessProbe: '/healthz',
    livenessProbe: '/healthz',
  }
  for (const [probe, path] of Object.entries(expected))
    assert.equal(daemon[probe].httpGet.path, path)
})
