import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const PLACES = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/snap/bin/chromium',
]

const QUIET = [
  'no-sandbox',
  'disable-gpu',
  'disable-quic',
  'no-first-run',
  'disable-background-networking',
  'disable-component-update',
  'disable-sync',
  // A browser takes hosts of this kind for foreign ones when it asks how safe a page is.
  'host-resolver-rules=MAP *.test 127.0.0.1',
]

/** A real browser without a window; if it is missing, an error says how to install it. */
export async function launchChromium(): Promise<Browser> {
  const named = process.env.CHROMIUM
  const executablePath = named ?? PLACES.find(path => existsSync(path))
  if (executablePath === undefined || !existsSync(executablePath))
    throw new Error(
      `The browser tests need Chromium${named === undefined ? '' : ` (CHROMIUM names ${named}, which is not there)`}: install it (Debian: apt install chromium) or set CHROMIUM to its path.`,
    )
  return chromium.launch({ executablePath, args: QUIET.map(flag => `--${flag}`) })
}
