import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../support/loopback.ts'
import { Program } from '../support/program.ts'

/** Whether a program of this name is installed. */
export function isInstalled(name: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${name}`], { env: { ...process.env, PATH: PATHS } })
    return true
  } catch {
    return false
  }
}

/** Debian has nginx where only administrators look. */
const PATHS = `${process.env.PATH}:/usr/sbin`

/**
 * Serves a copy of a public tree by nginx, with a worker per core. Its `config.json` leads to
 * nginx itself.
 */
export async function startNginx(folder: string, tree: string, daemon: string): Promise<Program> {
  const [root, port] = [join(folder, 'tree'), await freePort()]
  mkdirSync(folder)
  cpSync(tree, root, { recursive: true })
  const config = join(root, 'index', 'config.json')
  const text = readFileSync(config, 'utf8')
  writeFileSync(config, text.replaceAll(daemon, `http://127.0.0.1:${port}`))
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map(kind => `${kind}_temp_path ${folder}/${kind};`)
    .join(' ')
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; pid ${folder}/pid; error_log stderr; worker_processes ${availableParallelism()};
    ${process.getuid?.() === 0 ? 'user root;' : ''}
    events { worker_connections 512; }
    http {
      ${temporary}
      access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000;
      default_type application/octet-stream;
      server { listen 127.0.0.1:${port}; root ${root}; }
    }\n`,
  )
  const args = ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr']
  return Program.start('nginx', args, { env: { PATH: PATHS }, port })
}

/** Requests per second of a path, by 16 connections of `wrk`, in one thread. */
export function requestsPerSecond(port: number, path: string, seconds = 3): number {
  const args = ['-t1', '-c16', `-d${seconds}s`, `http://127.0.0.1:${port}${path}`]
  const text = execFileSync('wrk', args, { encoding: 'utf8' })
  if (/Non-2xx/.test(text)) throw new Error(`${path} is not answered:\n${text}`)
  return Number(/Requests\/sec: +([\d.]+)/.exec(text)?.[1])
}
