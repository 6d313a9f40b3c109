import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'

/** Debian's package linux-libc-dev. */
const NUMBERS = '/usr/include/x86_64-linux-gnu/asm/unistd_64.h'

/** Sets the filter in the file, which needs no privileges after PR_SET_NO_NEW_PRIVS, and goes on. */
const SET = `
open my $file, "<:raw", shift or die $!;
my $filter = do { local $/; <$file> };
syscall(157, 38, 1, 0, 0, 0) == 0 or die $!;
syscall(157, 22, 2, pack("S x6 P", length($filter) / 8, $filter)) == 0 or die $!;
exec @ARGV or die $!`

/** Why `filtered` does not work here; false when it does. */
export const withoutFilters: string | false =
  process.platform !== 'linux' || process.arch !== 'x64'
    ? 'Linux on x64 only'
    : [NUMBERS, '/usr/bin/perl', '/usr/bin/systemd-analyze'].find(path => !existsSync(path))
      ? 'needs linux-libc-dev, perl and systemd-analyze'
      : false

/**
 * Returns the beginning of a command that runs the rest with the system calls that a systemd unit
 * allows (`SystemCallFilter=`, `SystemCallErrorNumber=`), by a filter that is written to `file`.
 */
export function filtered(unit: string, file: string): string[] {
  const values = (key: string) =>
    [...unit.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value = '']) => value)
  const allowed = new Set(callsOf('@default'))
  for (const line of values('SystemCallFilter')) {
    const names = line.replace(/^~/, '').split(' ').flatMap(callsOf)
    for (const name of names) line.startsWith('~') ? allowed.delete(name) : allowed.add(name)
  }
  const errors: Readonly<Record<string, number>> = constants.errno
  writeFileSync(file, program(allowed, errors[values('SystemCallErrorNumber').join()] ?? 0))
  return ['perl', '-e', SET, file]
}

/** The system calls of a group such as `@resources`, or the call itself. */
function callsOf(name: string): readonly string[] {
  if (!name.startsWith('@')) return [name]
  const [, ...lines] = execFileSync('systemd-analyze', ['syscall-filter', name], {
    encoding: 'utf8',
  }).split('\n')
  return lines.map(line => line.trim()).flatMap(line => (/^\W?\w/.test(line) ? callsOf(line) : []))
}

/** A filter for seccomp: allows these calls, and answers others with an error. */
function program(allowed: ReadonlySet<string>, error: number): Buffer {
  const numbers = [...readFileSync(NUMBERS, 'utf8').matchAll(/^#define __NR_(\w+)\s+(\d+)$/gm)]
    .filter(([, name = '']) => allowed.has(name))
    .map(([, , number]) => Number(number))
  const load = instruction(0x20, 0, 0, 0)
  const test = (number: number) => [instruction(0x15, 0, 1, number), give(0x7fff0000)]
  return Buffer.concat([load, ...numbers.flatMap(test), give(0x00050000 + error)])
}

function give(value: number): Buffer {
  return instruction(0x06, 0, 0, value)
}

/** An instruction of BPF: code, where to go on if true and if false, and a number. */
function instruction(code: number, whenTrue: number, whenFalse: number, k: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt16LE(code)
  bytes.set([whenTrue, whenFalse], 2)
  bytes.writeUInt32LE(k, 4)
  return bytes
}
