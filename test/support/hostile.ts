import { crate, readme, version } from './demo-config.ts'
import { dependency } from './release.ts'

/** Markup that runs something where a page lets it. Browser tests look for `__hit`. */
export const PAYLOADS: readonly string[] = [
  '<script>__hit=1</script>',
  '<img src=x onerror="__hit=1">',
  '<svg onload="__hit=1"><animate attributeName=href values="javascript:__hit=1"></svg>',
  '<svg><style><img src=x onerror=__hit=1></style></svg>',
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=__hit=1&gt;">',
  '<a href="javascript:__hit=1">a</a><a href=" &#1; java&#x0A;script:__hit=1">b</a><a href="data:text/html,<script>__hit=1</script>">c</a>',
  '<iframe srcdoc="<script>parent.__hit=1</script>"></iframe><object data="javascript:__hit=1"></object><embed src="javascript:__hit=1">',
  '<form action="javascript:__hit=1"><button formaction="javascript:__hit=1">x</button><input autofocus onfocus="__hit=1"></form>',
  '<noscript><p title="</noscript><img src=x onerror=__hit=1>"></noscript>',
  '<textarea></textarea/><img src=x onerror=__hit=1></textarea>',
  '<xmp><img src=x onerror=__hit=1></xmp><plaintext><img src=x onerror=__hit=1>',
  '<details open ontoggle="__hit=1"><summary>x</summary></details><video src=x onerror="__hit=1"></video>',
  '<base href="https://evil.example/"><meta http-equiv="refresh" content="0;url=https://evil.example/"><link rel="stylesheet" href="https://evil.example/x.css">',
  '<style>body{display:none}</style><div style="position:fixed;inset:0;background:red" class="top hero" id="main">x</div>',
  '</div></section></main></body></html><h1 onclick="__hit=1">outside</h1>',
  '<template><script>__hit=1</script></template><select><option><script>__hit=1</script></select>',
  '<p title="&quot;&gt;&lt;script&gt;__hit=1&lt;/script&gt;">x</p>',
  '[j](javascript:__hit=1) [v](vbscript:x) [d](data:text/html;base64,PHNjcmlwdD4=) ![i](javascript:__hit=1)',
  '[x](https://a.example/"onmouseover="__hit=1) <https://a.example/%22onclick=%22__hit=1>',
  '[r]: javascript:__hit=1\n\n[r]',
  '```"><script>__hit=1</script>\n<script>__hit=1</script>\n```',
  '<a id="main" name="main" href="#main">x</a><h2 id="constructor">y</h2><li id="__proto__">z</li>',
  '<img src="https://tracker.example/pixel.gif" srcset="https://tracker.example/2.gif 2x" width=1 height=1>',
  '<b><i><table><b><td><a><b><table><p></b></a><a>',
]

/** The longest README that is shown. */
const SIZE = 256 * 1024
const filled = (text: string) => text.repeat(Math.ceil(SIZE / text.length)).slice(0, SIZE)

/** A text of `length` characters whose parts differ from each other. */
function numbered(part: (at: number) => string): string {
  const parts: string[] = []
  for (let length = 0, at = 0; length < SIZE; at++)
    length += parts[parts.push(part(at)) - 1]?.length ?? 0
  return parts.join('').slice(0, SIZE)
}

/** READMEs that are meant to take very long, or to grow very large. */
export const BOMBS: Readonly<Record<string, string>> = {
  'quotes in quotes': filled('> '),
  'lists in lists': Array.from({ length: 480 }, (_, at) => `${' '.repeat(at)}- a`).join('\n'),
  'open emphasis': filled('**a *b _c '),
  'open brackets': filled('[a]('),
  'images in images': filled('!['),
  'closing brackets': filled('](x)'),
  'back quotes': Array.from({ length: 500 }, (_, at) => `${'`'.repeat(at)} a`).join(' '),
  'open tags': filled('<a '),
  comments: filled('<!--'),
  'less-than signs': filled('<'),
  'elements in elements': filled('<div>'),
  'formatting in paragraphs': filled('<b><p>'),
  'formatting with ids in paragraphs': numbered(at => `<p><b id=${at}>x`),
  'links in formatting': filled('<a><b>'),
  'tables in tables': filled('<table><tr><td>'),
  'foster children': `<table>${filled('<b>x')}`,
  'wide table': `${'|a'.repeat(1000)}|\n${'|-'.repeat(1000)}|\n${filled('|\n')}`,
  'long table': `|a|b|\n|-|-|\n${filled('|x|y|\n')}`,
  footnotes: `${filled('[^1] ')}\n\n[^1]: x`,
  'many footnotes': Array.from({ length: 5000 }, (_, at) => `a[^${at}]\n\n[^${at}]: x\n`).join(
    '\n',
  ),
  'one long link, used often': `[a]: https://example.com/${'y'.repeat(1900)}\n\n${filled('[a] ')}`,
  'one long title, used often': `[a]: https://example.com/ "${'y'.repeat(20_000)}"\n\n${filled('[a] ')}`,
  'many attributes': `<a ${Array.from({ length: 20_000 }, (_, at) => `x${at}=1`).join(' ')}>`,
  'addresses to link': filled('http://'),
  'addresses with brackets to link': filled('http://a.com/(((('),
  'one address of brackets': `http://a.com/${filled('(')}`,
  'addresses in addresses': filled('http://a.com/'),
  'quotes before mail': `a@b.c ${filled('"a')}`,
  'addresses without scheme to link': filled('www.'),
  'mail to link': filled('a@b.c'),
  'many headings': filled('# a\n'),
  'many alerts': filled('> [!NOTE]\n> x\n\n'),
  'short alerts': filled('>[!TIP]\n\n'),
  'quotes in items': filled('- > - >\n'),
  'words with underscores': filled('aaa_i'),
  'lists ever deeper': numbered(at => `${' '.repeat(at % 200)}- a\n`),
  'rust of quotes': `\`\`\`rust\n${filled('r#"')}\n\`\`\``,
  'rust of comments': `\`\`\`rust\n${filled('/*')}\n\`\`\``,
  'many small fences': filled('```rust\nfn a(){}\n```\n'),
}

const EVIL = '"><script>__hit=1</script><img src=x onerror=__hit=1>'

/**
 * A crate in which every text is hostile; names and versions are not, because they are parsed
 * before they get anywhere.
 */
export const hostile = crate(
  version({
    name: 'hostile',
    description: `${EVIL} ${'\u202e'}reversed ${'very'.repeat(80)}`,
    publishedBy: EVIL,
    license: EVIL,
    homepage: 'javascript:__hit=1',
    documentation: `https://docs.example/${EVIL}`,
    repository: 'data:text/html,<script>__hit=1</script>',
    keywords: [EVIL, 'a&b=c#d'],
    categories: [EVIL],
    links: EVIL,
    edition: EVIL,
    rust_version: EVIL,
    bin_names: [EVIL],
    readme: readme(PAYLOADS.join('\n\n')),
    deps: [
      dependency('evil', EVIL, {
        target: EVIL,
        features: [EVIL],
        registry: `https://evil.example/${EVIL}`,
      }),
    ],
    features: { [EVIL]: [EVIL], constructor: ['__proto__'] },
  }),
  {
    owners: [{ login: EVIL, name: EVIL }],
    dependents: [
      {
        name: 'other',
        version: '1.0.0',
        req: EVIL,
        kind: 'normal',
        optional: true,
        registry: null,
      },
    ],
    dependentCount: 2,
    downloads: false,
  },
)
