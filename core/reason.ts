const FORM = /^(?=.*\S)[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]{1,500}$/u

/**
 * Returns whether text may be the reason of a yank or a deprecation: one paragraph of 1 to 500 code
 * points without control characters or those that turn the direction of text.
 */
export function isReason(text: string): boolean {
  return FORM.test(text)
}
