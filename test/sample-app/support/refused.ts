/** The body of a 422 with one problem. */
export function refused(
  type: string,
  loc: readonly (string | number)[],
  msg: string,
  input: unknown,
  ctx?: object,
) {
  return { detail: [{ type, loc, msg, input, ...(ctx && { ctx }) }] }
}

/** The body of a 422 that names missing parts. */
export function missing(...locs: readonly (readonly string[])[]) {
  return { detail: locs.map(loc => ({ type: 'missing', loc, msg: 'Field required', input: null })) }
}
