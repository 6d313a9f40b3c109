// READMEs with colored code: in Node, all grammars are there from the beginning.
import '../elements/grammars.ts'

export * from './render.ts'
