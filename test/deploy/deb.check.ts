// `npm run check:deploy`: the Debian package is installed, upgraded, removed and purged in a chroot: this
// machine's files under a layer that takes the changes.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Cleanup } from '../support/cleanup.ts'
import { expectCode, run } from '../support/command.ts'
import { buildCrate } from '../support/crate-builder.ts'
import { missing } from '../support/deploy-tools.ts'
import { freePort } from '../support/loopback.ts'
import { RELEASE, VERSION } from '../support/released.ts'
import { scratch } from '../support/scratch.ts'

const ARCHITECTURE = process.arch === 'x64' ? 'amd64' : process.arch
const skip = process.getuid?.() !== 0 ? 'root only' : missing('dpkg-deb')

/** Makes the root of the chroot, and goes on there with the script that is its last argument. */
const ENTER = `set -e
mount -t tmpfs tmpfs "$0"; mkdir "$0/upper" "$0/work" "$0/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$0/upper,workdir=$0/work" "$0/root"
mount --rbind /dev "$0/root/dev"; mount -t proc proc "$0/root/proc"
mkdir "$0/root/given"; mount --bind "$1" "$0/root/given"
exec chroot "$0/root" env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin sh -exc "$2"`

/** A systemd that runs, as far as a package asks it, and notes what. */
const SYSTEMD = `mkdir -p /run/systemd/system
printf '#!/bin/sh\\necho "$*" >> /given/systemctl\\n' > /usr/local/bin/systemctl
chmod 755 /usr/local/bin/systemctl`

const KEPT = `test "$(stat -c '%U:%G %a' /var/lib/plimsoll)" = 'plimsoll:plimsoll 750'
test -s /var/lib/plimsoll/public/index/de/mo/demo
test -s /var/lib/plimsoll/plimsoll.db`

const steps = (port: number) => `${SYSTEMD}
dpkg -i /given/old.deb
test "$(stat -c '%U:%G %a' /var/lib/plimsoll /etc/plimsoll/environment)" = "$(printf 'plimsoll:plimsoll 750\\nroot:root 644')"
as='setpriv --reuid plimsoll --regid plimsoll --clear-groups env -i PATH=/usr/bin PLIMSOLL_DIR=/var/lib/plimsoll PLIMSOLL_LISTEN=127.0.0.1:${port}'
plimsoll --version
$as plimsoll init
$as plimsoll add /given/crates
$as plimsoll serve > /given/log 2>&1 &
daemon=$!
until $as plimsoll health; do kill -0 $daemon; done
kill $daemon; wait $daemon
${KEPT}
echo '# changed here' >> /etc/plimsoll/environment
dpkg -i /given/new.deb
grep -q 'changed here' /etc/plimsoll/environment
dpkg-query -W -f '\${Version}\\n' plimsoll
$as plimsoll verify
${KEPT}
dpkg --remove plimsoll
test ! -e /opt/plimsoll; test ! -e /usr/bin/plimsoll; grep -q 'changed here' /etc/plimsoll/environment
${KEPT}
dpkg -i /given/new.deb
$as plimsoll verify
dpkg --purge plimsoll
test ! -e /opt/plimsoll; test ! -e /etc/plimsoll; test ! -e /usr/lib/systemd/system/plimsoll.service
${KEPT}`

test('the package keeps data and settings through upgrades, data also through a purge', {
  skip,
}, async t => {
  const folder = scratch(new Cleanup(t))
  const given = join(folder, 'given')
  const place = join(folder, 'place')
  for (const made of [join(given, 'crates'), place]) mkdirSync(made, { recursive: true })
  const crate = buildCrate({ name: 'demo', version: '1.0.0' })
  writeFileSync(join(given, 'crates', 'demo-1.0.0.crate'), crate)
  const [old, tree] = [
    join(RELEASE, `plimsoll_${VERSION}_${ARCHITECTURE}.deb`),
    join(folder, 'deb'),
  ]
  execFileSync('cp', [old, join(given, 'old.deb')])
  execFileSync('dpkg-deb', ['-R', old, tree])
  const control = join(tree, 'DEBIAN', 'control')
  const later = readFileSync(control, 'utf8').replace(/^(Version: .*)$/m, '$1+later')
  writeFileSync(control, later)
  execFileSync('dpkg-deb', ['-Znone', '-b', tree, join(given, 'new.deb')])

  const args = ['--mount', 'sh', '-c', ENTER, place, given, steps(await freePort())]
  const options = { cwd: folder, env: { PATH: process.env.PATH }, timeoutMs: 300_000 }
  const { stdout } = expectCode('the package', await run('unshare', args, options), 0)
  assert.match(
    stdout,
    new RegExp(`^${VERSION} \\(.*; Debian package for ${ARCHITECTURE}, Node`, 'm'),
  )
  assert.match(stdout, new RegExp(`^${VERSION.replaceAll('.', '\\.')}\\+later$`, 'm'))
  assert.match(
    stdout,
    /The registry in \/var\/lib\/plimsoll and the user plimsoll are still there\./,
  )
  const asked = readFileSync(join(given, 'systemctl'), 'utf8').trim().split('\n')
  const [removed, reload] = [
    'disable --now plimsoll.service plimsoll-backup.timer',
    'daemon-reload',
  ]
  const upgraded = [reload, reload, 'try-restart plimsoll']
  // The last of them is asked twice, by a removal and by the purge after it.
  const again = [reload, 'try-restart plimsoll', removed, reload, reload]
  assert.deepEqual(asked, [reload, ...upgraded, removed, reload, ...again])
})
