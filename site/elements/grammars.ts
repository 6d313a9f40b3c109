import { createRequire } from 'node:module'
import { addGrammar } from './highlight.ts'

/** The grammars of the library by name; that for TOML is called `ini`. */
const GRAMMARS = `bash c cpp css diff dockerfile go ini javascript json makefile python
  rust shell sql typescript xml yaml`

const load = createRequire(import.meta.url)
for (const name of GRAMMARS.split(/\s+/))
  addGrammar(name === 'ini' ? 'toml' : name, load(`highlight.js/lib/languages/${name}`))
