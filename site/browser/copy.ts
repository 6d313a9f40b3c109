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

/** Shows a button that copies the text of the element before it, and says that it did. */
export function startCopyButton(button: HTMLButtonElement): void {
  const label = button.getAttribute('aria-label') ?? ''
  button.hidden = false
  button.addEventListener('click', async () => {
    const source = button.previousElementSibling
    if (source === null || !(await copyText(source.textContent ?? ''))) return
    button.classList.add('done')
    button.setAttribute('aria-label', 'Copied')
    setTimeout(() => {
      button.classList.remove('done')
      button.setAttribute('aria-label', label)
    }, 1500)
  })
}

/** Adds a button to each block of code in READMEs; pages would have more bytes with them. */
export function addCopyButtons(): void {
  for (const pre of document.querySelectorAll('.readme pre:not(.plain-text, .code-block *)')) {
    const block = document.createElement('div')
    block.className = 'code-block'
    const button = document.createElement('button')
    button.className = 'copy'
    button.ariaLabel = 'Copy code'
    button.append(document.querySelector('.copy svg')?.cloneNode(true) ?? 'Copy')
    pre.replaceWith(block)
    block.append(pre, button)
    startCopyButton(button)
  }
}
