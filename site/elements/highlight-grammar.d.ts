import type { Grammar } from './highlight-core.d.ts'

/** Any grammar of highlight.js. */
declare const grammar: Grammar
export default grammar
