/** Copies a text; without HTTPS by the old way, a selection and `execCommand`. */
export async function copyText(text: string): Promise<boolean> {
  if (isSecureContext) {
    await navigator.clipboard.writeText(text)
    return true
  }
  const field = document.createElement('textarea')
  field.value = text
  document.body.append(field)
  field.select()
  const isCopied = document.execCommand('copy')
  field.remove()
  return isCopied
}
