/** The person a page is for, and the proof that a form came from it. */
export interface Viewer {
  readonly login: string
  readonly admin: boolean
  /** Value of the CSRF field of every form. */
  readonly csrf: string
}

/** A message above the page: what a form did, or why it did not. */
export interface Notice {
  readonly kind: 'done' | 'failed'
  readonly text: string
}
