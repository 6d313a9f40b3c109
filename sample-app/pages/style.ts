/** The look of all pages, in the colors of the system and those of the registry. */
export const STYLE = `
:root { color-scheme: light dark; --sunk: light-dark(#f3f5f5, #1a252d);
  --line: light-dark(#dde3e6, #2a3842); --quiet: light-dark(#586673, #9dabb6);
  --accent: light-dark(#0b6b73, #63c7cc); --string: light-dark(#8a4b00, #f0b878); }
* { box-sizing: border-box; }
body { margin: 0; overflow-wrap: anywhere; font: 1rem / 1.6 system-ui, sans-serif; }
header, main { padding: 1.1rem max(1.25rem, 50vw - 34.5rem); }
header { border-bottom: 1px solid var(--line); font-weight: 650; }
h1, h2 { margin: 1.5rem 0 0.5rem; line-height: 1.25; }
p, label { display: block; margin: 0 0 0.75rem; }
a, .accent { color: var(--accent); }
.lead { font-size: 1.125rem; color: var(--quiet); }
.quiet { font-size: 0.875rem; color: var(--quiet); }
code, pre, output, textarea, input { font: 0.875rem / 1.5 ui-monospace, Menlo, monospace; }
pre, output:not(:empty) { display: block; margin: 0 0 0.75rem; padding: 0.7rem 1rem;
  white-space: pre-wrap; background: var(--sunk); border-radius: 0.5rem; }
.cards { display: grid; gap: 0 1.25rem;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 24rem), 1fr)); }
.cards > h2 { grid-column: 1 / -1; }
.card { min-width: 0; margin-block: 0.75rem; padding: 1.25rem 1.25rem 0.5rem;
  border: 1px solid var(--line); border-radius: 0.75rem; }
.card h2 { margin-top: 0; font-size: 1.125rem; }
input, textarea { display: block; width: 100%; padding: 0.5rem 0.75rem; color: inherit;
  background: Canvas; border: 1px solid var(--line); border-radius: 0.5rem; }
button { padding: 0.5rem 1.25rem; font: inherit; color: Canvas; background: var(--accent);
  border: 0; border-radius: 0.5rem; }
.hljs-comment { color: var(--quiet); }
.hljs-string, .hljs-regexp { color: var(--string); }
.hljs-keyword, .hljs-built_in, .hljs-title, .hljs-number { color: var(--accent); }`
