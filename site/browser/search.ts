// Everything that pages load only for a search, as one module: each further one costs its own list
// of imports, and they share most of their code.
export { offerCrates } from './missing.ts'
export { fillResults } from './results.ts'
export { Suggestions } from './search-box.ts'
