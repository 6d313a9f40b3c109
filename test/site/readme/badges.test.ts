import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isBadge } from '../../../site/readme/badges.ts'
import { renderReadme } from '../../../site/readme/readme.ts'
import { none } from '../../support/none.ts'
import { frugally } from '../../support/processor-time.ts'

const listed = (addresses: string) => addresses.trim().split(/\s+/)

const BADGES = listed(`
  https://img.shields.io/crates/v/serde.svg https://badge.fury.io/rs/x.svg
  https://travis-ci.org/a/b.svg?branch=master https://docs.rs/serde/badge.svg
  https://github.com/a/b/workflows/CI/badge.svg?branch=main
  https://github.com/a/b/actions/workflows/ci.yml/badge.svg
  https://ci.appveyor.com/api/projects/status/abc
  https://codecov.io/gh/a/b/branch/main/graph/badge.svg
  https://coveralls.io/repos/github/a/b/badge.svg https://deps.rs/repo/github/a/b/status.svg
  https://gitlab.com/a/b/badges/main/pipeline.svg https://app.fossa.com/api/projects/x.svg/badges
  https://dev.azure.com/a/b/_apis/build/status/c //img.shields.io/badge/a-b-c
  .github/badges/coverage.svg https://zenodo.org/badge/1.svg https://circleci.com/gh/a/b.svg
  https://sonarcloud.io/api/project_badges/measure?project=a
`)

const PICTURES = listed(`
  https://raw.githubusercontent.com/a/b/main/logo.png
  https://github.com/a/b/raw/main/assets/screenshot.png https://i.example/badger.png
  https://api.star-history.com/svg?repos=a/b docs/status-page.png
  https://i.example/shielding.svg https://opencollective.com/a/tiers/backer.svg
  https://raw.githubusercontent.com/acme/shield/main/docs/architecture.png docs/badges/designer.png
  https://example.com/docs/status/machine.png https://example.com/badge/logo.png docs/shield.png
  https://github.com/a/workflows/raw/main/x.png /gh/a/b.svg docs/pipeline.png status/a.svg
`)

test('badges are recognized by their addresses, and pictures are not', () => {
  none(BADGES.filter(src => !isBadge(src)))
  assert.deepEqual(PICTURES.filter(isBadge), [])
})

const about = { readme_file: 'README.md', repository: null }
const B = '![License](https://img.shields.io/crates/l/x.svg)'
const REL = 'rel="nofollow noopener noreferrer"'
const PICTURE = `<a class="image" href="https://i.example/a.png" ${REL}>a</a>`

const ROWS: [what: string, text: string, html: string][] = [
  ['a paragraph of badges', `${B}\n[${B}](LICENSE) | ${B}\n\ntext`, '<p>text</p>'],
  ['badges after a title', `# keel ${B}`, '<h2 id="user-content-keel">keel </h2>'],
  ['a badge in a sentence', `Tested ${B} daily.`, '<p>Tested  daily.</p>'],
  ['a badge before a picture', `${B} ![a](https://i.example/a.png)`, `<p> ${PICTURE}</p>`],
  [
    'a badge before a link',
    `${B} | [x](https://x.example)`,
    `<p><a href="https://x.example/" ${REL}>x</a></p>`,
  ],
  ['a list of badges', `- ${B}\n- ${B}\n\ntext`, '<p>text</p>'],
  [
    'a centered block',
    `<div align="center"><a href="https://x.example">\n<img src="https://badgen.net/x"></a><br></div>\n\ntext`,
    '<p>text</p>',
  ],
  [
    'a link with a name',
    `<a name="top">${'<img src="https://badgen.net/x">'}</a>`,
    `<p><a id="user-content-top"></a></p>`,
  ],
  [
    'a cell',
    `| a | b |\n|---|---|\n| ${B} | x |`,
    '<div class="scroll" tabindex="0" role="region" aria-label="Table"><table dir="auto">\n<thead>\n<tr>\n<th>a</th>\n<th>b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td></td>\n<td>x</td>\n</tr>\n</tbody>\n</table></div>',
  ],
  ['an empty paragraph', '<p></p>', '<p></p>'],
  ['a dash', '-', '<ul dir="auto">\n<li></li>\n</ul>'],
]

for (const [what, text, html] of ROWS) {
  test(`badges are left out with what is only there for them: ${what}`, () => {
    const { html: shown } = renderReadme({ text, about, images: 'link' })
    assert.equal(shown.replace(/^<div class="readme">|<\/div>$/g, '').trim(), html)
  })
}

test('where images are loaded, badges are shown', () => {
  assert.match(
    renderReadme({ text: B, about, images: 'load' }).html,
    /<img src="https:\/\/img\.shields/,
  )
})

test('thousands of badges and separators take little time', () => {
  const image = '<img src="https://badgen.net/x">'
  for (const text of [`|${image}`.repeat(5000), '<b>'.repeat(60) + image.repeat(7000)])
    frugally(() => renderReadme({ text: `<p>${text}`, about, images: 'link' }), image, 3000)
})
