import { type CargoSetup, tokensOf, tokenVariable } from './cargo-config.ts'

/** A job's own token, as the jobs here call it; the settings of GitLab set it. */
const JWT = 'PLIMSOLL_ID_TOKEN'

/** Returns what `aud` of a job's token has to be, in YAML: by default the address without its scheme. */
function audienceOf({ audiences }: CargoSetup, kind: string, api: string): string {
  const wanted = audiences.get(kind)
  return wanted === undefined ? api.replace(/^https?:\/\//, '') : JSON.stringify(wanted)
}

/** The variables that a job publishes with: one token reads from all registries, too. */
function publishingWith(setup: CargoSetup): [own: string, ...others: string[]] {
  const own = tokenVariable(setup.own)
  return [own, ...tokensOf(setup).filter(variable => variable !== own)]
}

/** Returns the lines of a shell that get a token, publish with it, and end it. */
export function exchangeScript(setup: CargoSetup): string[] {
  const { api, own } = setup
  const [variable, ...others] = publishingWith(setup)
  const url = `${api}/api/v1/trusted_publishing/tokens`
  return [
    `ANSWER=$(curl -sS --fail-with-body -H 'Content-Type: application/json' --data "{\\"jwt\\":\\"$${JWT}\\"}" '${url}') || { echo "$ANSWER" >&2; exit 1; }`,
    `export ${variable}="$(printf '%s' "$ANSWER" | cut -d '"' -f 4)"`,
    ...others.map(other => `export ${other}="$${variable}"`),
    `STATUS=0; cargo publish --registry ${own.name} || STATUS=$?`,
    `curl -sS -X DELETE -H "Authorization: Bearer $${variable}" '${url}' || true`,
    'exit $STATUS',
  ]
}

const indented = (lines: readonly string[], indent: number) =>
  lines.map(line => `${' '.repeat(indent)}${line}\n`).join('')

/** Returns the job of GitHub or Forgejo that publishes without a stored token. */
export function actionJob(setup: CargoSetup, configure: string, isForgejo: boolean): string {
  const { api, own } = setup
  if (api === null) return ''
  const env = publishingWith(setup).map(name => `${name}: \${{ steps.auth.outputs.token }}`)
  const action = `${isForgejo ? 'https://github.com/' : ''}rust-lang/crates-io-auth-action@v1`
  const right = isForgejo
    ? '    enable-openid-connect: true\n'
    : '    permissions:\n      contents: read\n      id-token: write\n'
  return `  publish:
    if: startsWith(github.ref, 'refs/tags/v')
    needs: build
    runs-on: ${isForgejo ? 'docker' : 'ubuntu-latest'}
    environment: release
${right}    steps:
      - uses: actions/checkout@v7
${configure}      - uses: ${action}
        id: auth
        with:
          url: ${api}
      - run: cargo publish --registry ${own.name}
        env:
${indented(env, 10)}`
}

/** Returns the job of GitLab that publishes without a stored token. */
export function gitlabJob(setup: CargoSetup, configure: string): string {
  if (setup.api === null) return ''
  return `publish:
  image: rust:1
  rules:
    - if: $CI_COMMIT_TAG =~ /^v/
  id_tokens:
    ${JWT}:
      aud: ${audienceOf(setup, 'gitlab', setup.api)}
  before_script:
${configure}  script:
    - |
${indented(exchangeScript(setup), 6)}`
}

/** Returns the jobs of Kubernetes that build, and publish as a service account. */
export function kubernetesJobs(setup: CargoSetup, configure: string): string {
  const { api } = setup
  const job = (
    name: string,
    command: readonly string[],
    [more, env, volumes]: readonly string[],
  ) => `---
apiVersion: batch/v1
kind: Job
metadata:
  name: ${name}
spec:
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
${more}      containers:
        - name: cargo
          image: rust:1
          workingDir: /src
          command: ["sh", "-ec"]
          args:
            - |
${configure}${indented(command, 14)}${env}          volumeMounts:
            - { name: src, mountPath: /src }
${volumes}`
  const src = `      volumes:
        - name: src
          persistentVolumeClaim: { claimName: src }
`
  const secrets = tokensOf(setup).map(
    name => `            - name: ${name}
              valueFrom: { secretKeyRef: { name: plimsoll, key: ${name} } }
`,
  )
  const env = secrets.length > 0 ? `          env:\n${secrets.join('')}` : ''
  const build = job('build', ['cargo build --locked'], ['', env, src])
  if (api === null) return build
  const token = `            - { name: token, mountPath: /var/run/plimsoll }
${src}        - name: token
          projected:
            sources:
              - serviceAccountToken:
                  audience: ${audienceOf(setup, 'kubernetes', api)}
                  expirationSeconds: 600
                  path: token
`
  const publish = [`${JWT}=$(cat /var/run/plimsoll/token)`, ...exchangeScript(setup)]
  return build + job('publish', publish, ['      serviceAccountName: publisher\n', '', token])
}
