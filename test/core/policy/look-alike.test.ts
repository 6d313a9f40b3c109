import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Name } from '../../../core/name.ts'
import { canonicalName, parseName } from '../../../core/name.ts'
import { lookAlikeKeys, lookAlikeSkeleton, looksAlike } from '../../../core/policy/look-alike.ts'
import { Random } from '../../support/random.ts'

const random = new Random(20_261_120)
const below = (bound: number) => random.below(bound)
const pick = (text: string) => text[below(text.length)] ?? ''

/** A name of 6 to 30 characters with all that a fold has to do with in it now and then. */
function anyName(): string {
  const pieces = ['rn', 'm', '0', 'o', '1', 'l', 'i', '-', '_', '7']
  let text = pick('abcdefghijklmnopqrstuvwxyz')
  const length = 6 + below(25)
  while (text.length < length)
    text += below(3) === 0 ? (pieces[below(pieces.length)] ?? '') : pick('abcdeghkpstuvxz')
  return text
}

const at = (text: string, fits: (character: string, index: number) => boolean): number => {
  const places = [...text].flatMap((character, index) => (fits(character, index) ? [index] : []))
  return places[below(places.length)] ?? -1
}
const letter = (character: string) => /[a-z]/.test(character)
const replaceAt = (text: string, index: number, length: number, by: string) =>
  text.slice(0, index) + by + text.slice(index + length)

/** Each kind of similarity: makes a name from another, or null if the kind does not apply. */
const kinds: Record<string, (text: string) => string | null> = {
  '0 for o': text => swapOne(text, 'o', '0'),
  'o for 0': text => swapOne(text, '0', 'o'),
  '1 for l': text => swapOne(text, 'l', '1'),
  'l for 1': text => swapOne(text, '1', 'l'),
  'i for l': text => swapOne(text, 'l', 'i'),
  '1 for i': text => swapOne(text, 'i', '1'),
  'm for rn': text => swapOne(text, 'rn', 'm'),
  'rn for m': text => swapOne(text, 'm', 'rn'),
  'all that look the same': text =>
    text.slice(0, 1) +
    text.slice(1).replaceAll('o', '0').replaceAll('l', '1').replaceAll('m', 'rn'),
  'a letter doubled': text => {
    const index = at(text, letter)
    return index < 0 ? null : replaceAt(text, index, 0, text[index] ?? '')
  },
  'a letter dropped': text => {
    const index = at(text, (char, place) => place > 0 && letter(char))
    return index < 0 ? null : replaceAt(text, index, 1, '')
  },
  'a separator dropped': text => swapOne(text, '_', ''),
  'two letters swapped': text => {
    const index = at(text, (char, place) => letter(char) && letter(text[place + 1] ?? ''))
    return index < 0
      ? null
      : replaceAt(text, index, 2, `${text[index + 1] ?? ''}${text[index] ?? ''}`)
  },
}

function swapOne(text: string, what: string, by: string): string | null {
  const index = at(text, (_, place) => place > 0 && text.startsWith(what, place))
  return index < 0 ? null : replaceAt(text, index, what.length, by)
}

for (const [kind, change] of Object.entries(kinds)) {
  test(`found among generated names, both ways: ${kind}`, () => {
    let tried = 0
    for (let round = 0; round < 400; round++) {
      const text = anyName()
      const changed = change(text)
      if (changed === null || changed.length > 64) continue
      const [name, other] = [parseName(text), parseName(changed)]
      if (canonicalName(name) === canonicalName(other)) continue
      tried++
      assert.ok(lookAlikeKeys(name).includes(lookAlikeSkeleton(other)), `${name} → ${other}`)
      assert.ok(lookAlikeKeys(other).includes(lookAlikeSkeleton(name)), `${other} → ${name}`)
    }
    assert.ok(tried >= 50, `${tried}`)
  })
}

const ORDINARY =
  `serde serde_json serde_yaml serde_derive tokio tokio-util tower tower-http hyper hyper-util reqwest rand
  rand_core rand_chacha log slog env_logger anyhow thiserror clap clap_derive syn quote proc-macro2 libc regex regex-syntax
  itertools bitflags lazy_static once_cell chrono time uuid url http http-body bytes futures futures-util async-trait
  tracing tracing-core axum actix-web warp rocket diesel sqlx rusqlite redis mongodb sha1 sha2 sha3 md5 hmac aes base64 hex
  crc32 toml toml_edit json yaml xml ring rustls openssl native-tls mio nix winapi windows windows-sys image png gif
  ndarray nalgebra rayon crossbeam parking_lot dashmap indexmap hashbrown smallvec arrayvec either semver cargo git2 zip
  tar flate2 brotli lz4 zstd criterion proptest tempfile walkdir glob ignore memchr aho-corasick unicode-width textwrap
  ab abc a b cc cfg-if ahash bstr num num-traits fnv void utf8 utf16`.split(/\s+/)

test('ordinary names are left alone', () => {
  const names = ORDINARY.map(parseName)
  const pairs = names.flatMap(name =>
    names.filter(other => looksAlike(name, other)).map(other => `${name} ${other}`),
  )
  assert.deepEqual(pairs, [])
})

const pairs: [a: string, b: string, alike: boolean][] = [
  ['serde', 'serd', true],
  ['serde', 'sered', true],
  ['serde', 'serdee', true],
  ['tokio', 'tok1o', true],
  ['tokio', 'TOKI0', true],
  ['torn', 'tom', true],
  ['barns', 'bans', true],
  ['barn', 'ban', false],
  ['foo-bar', 'foobar', true],
  ['log', 'logg', true],
  ['log', 'lg', false],
  ['log', 'logs', false],
  ['sha1', 'sha', false],
  ['sha256', 'sha265', false],
  ['serde', 'serbe', false],
  ['serde', 'serde', false],
  ['foo-bar', 'Foo_bar', false],
]
for (const [a, b, alike] of pairs) {
  test(`${a} and ${b} ${alike ? 'look' : 'do not look'} alike`, () => {
    assert.equal(looksAlike(parseName(a), parseName(b)), alike)
    assert.equal(looksAlike(parseName(b), parseName(a)), alike)
  })
}

test('the keys stay few and distinct, at any length', () => {
  for (let length = 1; length <= 64; length++) {
    const keys = lookAlikeKeys('abcdefgh'.repeat(8).slice(0, length) as Name)
    assert.equal(new Set(keys).size, keys.length)
    assert.ok(keys.length <= 1900, `${keys.length}`)
  }
})
