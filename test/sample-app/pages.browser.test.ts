import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { launchChromium } from '../support/chromium.ts'
import { serving } from './support/serving.ts'

const browser = await launchChromium()
after(() => browser.close())

test('a person uploads a file through the form', async () => {
  const page = await browser.newPage()
  await page.goto(`${await serving('uploads')}/`)
  const name = 'né "quoted" 你.txt'
  await page
    .getByLabel('File')
    .setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.alloc(2_000_000, 'x') })
  await page.getByRole('button', { name: 'Upload' }).click()
  await page.waitForURL('**/uploadfile/')
  const shown = JSON.parse(await page.locator('body').innerText())
  // Browsers write a quote in a file name as %22; it is echoed as it was sent.
  assert.deepEqual(shown, { filenames: 'né %22quoted%22 你.txt', type: 'UploadFile' })
  await page.close()
})

test('the documentation and the index need nothing from elsewhere, and no script', async () => {
  const context = await browser.newContext({ javaScriptEnabled: false })
  const page = await context.newPage()
  const asked: string[] = []
  const complaints: string[] = []
  page.on('request', request => asked.push(request.url()))
  page.on('console', message => complaints.push(message.text()))
  const origin = await serving('gallery')
  await page.goto(`${origin}/`)
  await page.locator('#query-metadata a').click()
  await page.waitForURL('**/examples/query-metadata/docs')
  const line = await page.evaluate(
    "getComputedStyle(document.querySelector('s')).textDecorationLine",
  )
  assert.equal(line, 'line-through')
  assert.deepEqual(
    asked.filter(url => !url.startsWith(origin)),
    [],
  )
  assert.deepEqual(complaints, [])
  await context.close()
})

/** The answer to the first form of an example's documentation, filled in and sent. */
async function tried(example: string, values: Readonly<Record<string, string>>): Promise<unknown> {
  const page = await browser.newPage({ viewport: { width: 360, height: 800 } })
  const complaints: string[] = []
  page.on('console', message => complaints.push(message.text()))
  await page.goto(`${await serving(example)}/docs`)
  const form = page.locator('form').first()
  for (const [name, value] of Object.entries(values)) {
    await form.locator(`[name="${name}"]`).fill(value)
  }
  await form.getByRole('button').click()
  await form.locator('output:not(:empty)').waitFor()
  const text = await form.locator('output').innerText()
  assert.ok(Number(await page.evaluate('document.documentElement.scrollWidth')) <= 360)
  assert.deepEqual(complaints, [])
  await page.close()
  return JSON.parse(text.split('\n').at(-1) ?? '')
}

test('every kind of input can be tried in the documentation, on a phone', async () => {
  const item = { name: 'Unnamed item', description: null, price: 1, tax: null }
  const token = { access_token: 'johndoe', token_type: 'bearer' }
  const secrets = { 'x-token': 'fake-super-secret-token', 'x-key': 'fake-super-secret-key' }
  const table: readonly (readonly [string, Record<string, string>, unknown])[] = [
    ['path-converter', { file_path: 'a/b c' }, { file_path: 'a/b c' }],
    ['query-list', { q: 'a\nb' }, { q: ['a', 'b'] }],
    ['global-dependencies', secrets, [{ item: 'Portal Gun' }, { item: 'Plumbus' }]],
    ['cookies', { ads_id: 'abc' }, { ads_id: 'abc' }],
    ['forms', { username: 'a b', password: 'x' }, { username: 'a b' }],
    ['security', { username: 'johndoe', password: 'secret' }, token],
    ['body', { body: '{"price":1}' }, item],
  ]
  for (const [example, values, expected] of table) {
    assert.deepEqual(await tried(example, values), expected, example)
  }
})
