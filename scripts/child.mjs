// Runs one of our programs in its own process, which always ends with this one.
import { spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { isatty } from 'node:tty'

/** npm is behind a shell, which this process sees: both must live on. */
const ANCESTORS = process.env.npm_lifecycle_event ? [process.ppid, parentOf(process.ppid)] : []
const CHECK_MS = 500

/**
 * Starts `node ARGS…` and exits with its code. Every signal to stop is passed on as SIGTERM, which
 * the child takes as one request however often it comes: a signal to the process group reaches the
 * child twice. Without a terminal, SIGHUP is no signal to stop, and passed on as it is. When npm ends, the child is asked to stop as well; when this process is killed, the
 * child sees its IPC channel close.
 */
export function runChild(args) {
  const child = spawn(process.execPath, ['--enable-source-maps', ...args], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  })
  const stop = () => child.kill('SIGTERM')
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, stop)
  const isOnTerminal = [0, 1, 2].some(descriptor => isatty(descriptor))
  process.on('SIGHUP', () => (isOnTerminal ? stop() : child.kill('SIGHUP')))
  const check = setInterval(() => {
    if (ANCESTORS.every(isAlive)) return
    clearInterval(check)
    stop()
  }, CHECK_MS)
  check.unref()
  child.on('exit', code => process.exit(code ?? 1))
}

function parentOf(pid) {
  try {
    // The command, in parentheses, may hold anything; state and parent follow it (proc(5)).
    return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1).split(' ')[1])
  } catch {
    // No Linux; without `ps` either, the grandparent is not watched.
    const { stdout } = spawnSync('ps', ['-o', 'ppid=', '-p', String(pid)], { encoding: 'utf8' })
    return Number(stdout)
  }
}

function isAlive(pid) {
  if (!(pid > 1)) return true
  if (pid === ANCESTORS[0]) return process.ppid === pid
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error.code === 'EPERM'
  }
}
