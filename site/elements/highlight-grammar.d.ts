import type { Grammar } from './highlight-core.d.ts'

declare const grammar: Grammar
export default grammar
